import { isAbsolute } from 'node:path'
import { type BrowserWindow, type IpcMainEvent, ipcMain } from 'electron'
import { problemOf } from '../core/bridge/problems.ts'
import type { RunningBerth } from '../core/running.ts'
import { dropChannel } from './channel.ts'
import { isBerthsPage } from './page-channel.ts'

/** Makes a folder that is dropped on a window a project, and opens the dialog to run it. */
export function hearFolderDrops(running: Promise<RunningBerth>, window: BrowserWindow): void {
  const { webContents } = window

  const receive = (event: IpcMainEvent, path: unknown) => {
    if (event.sender !== webContents || !isBerthsPage(event)) return
    if (typeof path === 'string' && path.length <= 4096 && isAbsolute(path)) void add(path)
  }

  async function add(path: string): Promise<void> {
    const berth = await running
    try {
      const project = await berth.registerProject(path)
      berth.goTo(undefined, { screen: 'projects', project, ask: 'run' })
    } catch (error) {
      const { message, advice } = problemOf(error)
      const body = [message, advice].filter(Boolean).join(' ')
      const title = 'Could not add the folder'
      berth.say({ id: 'folder-drop', title, body, urgency: 'normal', actions: [] })
    }
  }

  ipcMain.on(dropChannel, receive)
  window.once('closed', () => ipcMain.off(dropChannel, receive))
}
