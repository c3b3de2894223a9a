/** The one channel between page and main process. Contract messages go over it, both ways, and nothing else. */
export const channel = 'berth'
