import { EventEmitter } from 'node:events'
import type * as Electron from 'electron'
import { app, ipcMain } from './modules.ts'

export const windows: BrowserWindow[] = []

type Open = Parameters<Electron.WebContents['setWindowOpenHandler']>[0]

/** A page that a test stands for: what main sends to it is kept, what it posts comes from an address of its choosing. */
export class WebContents
  extends EventEmitter
  implements Pick<Electron.WebContents, 'send' | 'isDestroyed' | 'setWindowOpenHandler'>
{
  readonly sent: unknown[] = []
  openHandler: Open | undefined
  destroyed = false
  url = ''

  send(channel: string, message: unknown): void {
    // Electron clones what it sends, and throws for what cannot be cloned.
    this.sent.push([channel, structuredClone(message)])
  }

  isDestroyed(): boolean {
    return this.destroyed
  }

  setWindowOpenHandler(handler: Open): void {
    this.openHandler = handler
  }

  /** A message of the page's, from its main frame unless `parent` says that it is in another. */
  post(channel: string, message: unknown, from: { url?: string; parent?: object } = {}): void {
    const senderFrame = { url: from.url ?? this.url, parent: from.parent ?? null }
    ipcMain.emit(channel, { sender: this, senderFrame }, structuredClone(message))
  }
}

export class BrowserWindow
  extends EventEmitter
  implements Pick<Electron.BrowserWindow, 'show' | 'hide' | 'focus' | 'restore' | 'isMinimized' | 'loadURL'>
{
  static getFocusedWindow(): BrowserWindow | null {
    return windows[0] ?? null
  }

  static getAllWindows(): BrowserWindow[] {
    return windows
  }

  readonly options: Electron.BrowserWindowConstructorOptions
  readonly webContents = new WebContents()
  visible: boolean

  constructor(options: Electron.BrowserWindowConstructorOptions = {}) {
    super()
    this.options = options
    this.visible = options.show ?? true
    windows.push(this)
    app.emit('web-contents-created', {}, this.webContents)
  }

  show(): void {
    this.visible = true
  }

  hide(): void {
    this.visible = false
  }

  focus(): void {}

  restore(): void {}

  isMinimized(): boolean {
    return false
  }

  async loadURL(url: string): Promise<void> {
    this.webContents.url = url
    this.webContents.emit('did-start-navigation', { isMainFrame: true, isSameDocument: false, url })
    setImmediate(() => this.emit('ready-to-show'))
  }

  /** As the user's click on its close button. */
  close(): void {
    let prevented = false
    this.emit('close', {
      preventDefault: () => {
        prevented = true
      },
    })
    if (prevented) return
    this.visible = false
    this.webContents.destroyed = true
    windows.splice(windows.indexOf(this), 1)
    this.emit('closed')
    if (windows.length === 0) app.emit('window-all-closed')
  }
}
