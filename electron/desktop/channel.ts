/** The only channel between page and main process: contract messages, both ways. */
export const channel = 'berth'

/** Sends the paths of dropped folders from the preload, past the page. */
export const dropChannel = 'berth-drop'

/** Begins the argument of a page's process that names its theme until the page has its State. */
export const themeArgument = '--berth-theme='
