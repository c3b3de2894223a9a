/** The part of a window that the list uses. */
interface Listed {
  isDestroyed(): boolean
  close(): void
  destroy(): void
}

/** All windows, and listeners for the end of the last one (window_list.cc, `WindowList`). */
export const windowList = {
  windows: [] as Listed[],
  onAllClosed: [] as (() => void)[],
  onCloseCancelled: [] as (() => void)[],
  isEmpty(): boolean {
    return windowList.windows.length === 0
  },
  closeAll(): void {
    for (const window of [...windowList.windows]) if (!window.isDestroyed()) window.close()
  },
  destroyAll(): void {
    for (const window of [...windowList.windows]) window.destroy()
  },
  add(window: Listed): void {
    windowList.windows.push(window)
  },
  remove(window: Listed): void {
    windowList.windows.splice(windowList.windows.indexOf(window), 1)
    if (windowList.isEmpty()) for (const hear of [...windowList.onAllClosed]) hear()
  },
}
