import type * as Electron from 'electron'
import { app } from './app.ts'
import { nativeImage, nativeTheme, screen } from './appearance.ts'
import { clipboard, dialog, shell } from './dialogs.ts'
import { Menu } from './menu.ts'
import { globalShortcut, ipcMain, powerMonitor, protocol } from './modules.ts'
import { autoUpdater, net } from './net.ts'
import { Notification } from './notification.ts'
import { listenToTest } from './remote.ts'
import { session } from './session.ts'
import { Tray } from './tray.ts'
import { surviveErrors } from './uncaught.ts'
import { BrowserWindow } from './window.ts'

/**
 * The part of Electron that Berth's shell uses, without Electron's binary: it does what the shell asks as far as the
 * shell can see, remembers it, and lets a test in another process look and click (remote.ts). Each part is checked
 * against Electron's own declarations.
 */
export {
  app,
  autoUpdater,
  BrowserWindow,
  clipboard,
  dialog,
  globalShortcut,
  ipcMain,
  Menu,
  Notification,
  nativeImage,
  nativeTheme,
  net,
  powerMonitor,
  protocol,
  screen,
  session,
  shell,
  Tray,
}

/** A name that Electron does not have, or has for something else, would not compile. */
type Used = Pick<
  typeof Electron,
  | 'app'
  | 'autoUpdater'
  | 'BrowserWindow'
  | 'clipboard'
  | 'dialog'
  | 'globalShortcut'
  | 'ipcMain'
  | 'Menu'
  | 'Notification'
  | 'nativeImage'
  | 'nativeTheme'
  | 'net'
  | 'powerMonitor'
  | 'protocol'
  | 'screen'
  | 'session'
  | 'shell'
  | 'Tray'
>
export type Doubled = keyof Used

surviveErrors()
listenToTest({
  app,
  autoUpdater,
  BrowserWindow,
  clipboard,
  dialog,
  globalShortcut,
  ipcMain,
  Menu,
  Notification,
  nativeImage,
  nativeTheme,
  net,
  powerMonitor,
  protocol,
  screen,
  session,
  shell,
  Tray,
} satisfies Record<Doubled, unknown>)
