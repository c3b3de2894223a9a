import { type BrowserWindow, type IpcMainEvent, ipcMain } from 'electron'
import type { PageLink, RunningBerth } from '../core/running.ts'
import { channel } from './channel.ts'
import { isPage } from './page-address.ts'

/** Joins a window's page to Berth over the one channel there is. A page that is loaded anew is a new one. */
export function joinWindow(berth: RunningBerth, window: BrowserWindow): void {
  const { webContents } = window
  let link: PageLink | undefined

  function connect(): PageLink {
    return berth.connectPage(message => {
      if (!webContents.isDestroyed()) webContents.send(channel, message)
      // Electron queues without a bound and tells nothing: the streams' own windows bound what waits.
      return true
    })
  }

  function leave(): void {
    link?.close()
    link = undefined
  }

  const receive = (event: IpcMainEvent, message: unknown) => {
    if (event.sender !== webContents || !isBerthsPage(event)) return
    link ??= connect()
    link.receive(message)
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
}

/** The main frame, with Berth's page in it, and nothing that a page may have put into itself. */
export function isBerthsPage(event: IpcMainEvent): boolean {
  const frame = event.senderFrame
  return frame !== null && frame.parent === null && isPage(frame.url)
}
