import { type BrowserWindow, type IpcMainEvent, ipcMain } from 'electron'
import type { MainMessage } from '#contract/messages.ts'
import type { PageLink, RunningBerth } from '../core/running.ts'
import { channel } from './channel.ts'
import { isPage } from './page-origin.ts'

/**
 * Joins a window's page to Berth, once it takes pages. After a reload the page counts as a new one. Gives the function
 * that says whether the page's end would cut something off.
 */
export function joinWindow(
  pages: Promise<Pick<RunningBerth, 'connectPage'>>,
  window: BrowserWindow,
): () => boolean {
  const { webContents } = window
  let link: PageLink | undefined

  function connect({ connectPage }: Pick<RunningBerth, 'connectPage'>): PageLink {
    const send = (message: MainMessage) => {
      if (!webContents.isDestroyed()) webContents.send(channel, message)
      // Electron's queue is unbounded and reports no size; the streams' flow control bounds it.
      return true
    }
    return connectPage(send, () => isInFront(window))
  }

  function leave(): void {
    link?.close()
    link = undefined
  }

  const receive = (event: IpcMainEvent, message: unknown) => {
    if (event.sender !== webContents || !isBerthsPage(event)) return
    void pages.then(taking => {
      if (webContents.isDestroyed()) return
      link ??= connect(taking)
      link.receive(message)
    })
  }

  ipcMain.on(channel, receive)
  webContents.on('did-start-navigation', details => {
    if (details.isMainFrame && !details.isSameDocument) leave()
  })
  webContents.on('render-process-gone', leave)
  window.once('closed', () => {
    ipcMain.off(channel, receive)
    leave()
  })
  return () => link?.isBusy() ?? false
}

/** A page cannot tell: to it a hidden window may have the focus. */
function isInFront(window: BrowserWindow): boolean {
  return !window.isDestroyed() && window.isVisible() && !window.isMinimized() && window.isFocused()
}

/** Whether the event comes from the main frame with Berth's page, and from no frame inside it. */
export function isBerthsPage(event: IpcMainEvent): boolean {
  const frame = event.senderFrame
  return frame !== null && frame.parent === null && isPage(frame.url)
}
