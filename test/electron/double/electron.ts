import type * as Electron from 'electron'
import {
  app,
  clipboard,
  dialog,
  ipcMain,
  nativeImage,
  nativeTheme,
  powerMonitor,
  protocol,
  session,
} from './modules.ts'
import { Notification } from './notification.ts'
import { listenToTest } from './remote.ts'
import { Menu, Tray } from './tray.ts'
import { BrowserWindow } from './window.ts'

/**
 * The part of Electron that Berth's shell uses, without Electron's binary: it does what the shell asks as far as the
 * shell can see, remembers it, and lets a test in another process look and click (remote.ts). Each part is checked
 * against Electron's own declarations.
 */
export {
  app,
  BrowserWindow,
  clipboard,
  dialog,
  ipcMain,
  Menu,
  Notification,
  nativeImage,
  nativeTheme,
  powerMonitor,
  protocol,
  session,
  Tray,
}

/** A name that Electron does not have, or has for something else, would not compile. */
type Used = Pick<
  typeof Electron,
  | 'app'
  | 'BrowserWindow'
  | 'clipboard'
  | 'dialog'
  | 'ipcMain'
  | 'Menu'
  | 'Notification'
  | 'nativeImage'
  | 'nativeTheme'
  | 'powerMonitor'
  | 'protocol'
  | 'session'
  | 'Tray'
>
export type Doubled = keyof Used

listenToTest()
