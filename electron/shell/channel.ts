/** The only channel between page and main process: contract messages, both ways. */
export const channel = 'berth'

/** Sends the paths of dropped folders from the preload, past the page. */
export const dropChannel = 'berth-drop'
