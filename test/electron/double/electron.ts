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
 * The part of Electron that Berth's shell uses, without Electron's binary. It behaves as the shell can observe, records
 * its calls, and lets a test in another process inspect and click (remote.ts). Each part is checked against Electron's
 * own declarations.
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

/** Fails to compile with a name that Electron does not export. */
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
