/** The one channel between page and main process. Contract messages go over it, both ways, and nothing else. */
export const channel = 'berth'

/** Paths of folders that the user dropped, from the preload past the page. */
export const dropChannel = 'berth-drop'
