import { EventEmitter } from 'node:events'
import type * as Electron from 'electron'
import { app } from './app.ts'
import { needsReady } from './needs-ready.ts'
import { tell, WebContents } from './web-contents.ts'
import { windowList } from './window-list.ts'

/** Whether the desktop uses Wayland; set by tests. */
const isWayland = process.env['BERTH_DOUBLE_DESKTOP'] === 'wayland'

export const windows = windowList.windows as BrowserWindow[]
let last = 0

type Doubled =
  | 'show'
  | 'showInactive'
  | 'hide'
  | 'focus'
  | 'blur'
  | 'isFocused'
  | 'isVisible'
  | 'minimize'
  | 'restore'
  | 'isMinimized'
  | 'maximize'
  | 'unmaximize'
  | 'isMaximized'
  | 'setFullScreen'
  | 'isFullScreen'
  | 'getBounds'
  | 'setBounds'
  | 'getNormalBounds'
  | 'getSize'
  | 'getPosition'
  | 'setPosition'
  | 'moveTop'
  | 'center'
  | 'setMenuBarVisibility'
  | 'setTitle'
  | 'setBackgroundColor'
  | 'setSkipTaskbar'
  | 'loadURL'
  | 'close'
  | 'destroy'
  | 'isDestroyed'

/** A window without a desktop, which tracks its bounds and visibility. */
export class BrowserWindow extends EventEmitter implements Pick<Electron.BrowserWindow, Doubled> {
  static getFocusedWindow(): BrowserWindow | null {
    return windows.find(window => window.isFocused()) ?? null
  }

  static getAllWindows(): BrowserWindow[] {
    return [...windows]
  }

  static fromWebContents(contents: unknown): BrowserWindow | null {
    return windows.find(({ webContents }) => webContents === contents) ?? null
  }

  readonly id = ++last
  readonly options: Electron.BrowserWindowConstructorOptions
  readonly webContents = new WebContents(this.id)
  visible: boolean
  /** Whether it was visible before its page was drawn. */
  shownBeforeDrawn = false
  #drawn = false
  #focused = false
  #minimized = false
  #maximized = false
  #fullScreen = false
  #bounds: Electron.Rectangle

  constructor(options: Electron.BrowserWindowConstructorOptions = {}) {
    super()
    // electron_api_browser_window.cc, `BrowserWindow::New`.
    needsReady('Cannot create BrowserWindow before app is ready')
    this.options = options
    this.visible = options.show ?? true
    const { x = 0, y = 0, width = 800, height = 600 } = options
    this.#bounds = { x, y, width, height }
    windowList.add(this)
    app.emit('web-contents-created', {}, this.webContents)
    app.emit('browser-window-created', {}, this)
    this.webContents.once('dom-ready', () => this.#reportReady())
  }

  /**
   * web-contents.ts, `ready-to-show`: emitted after the first draw of the page. On Wayland a hidden window is not drawn
   * (electron/electron#48859), so the event follows the first show.
   */
  #reportReady(): void {
    this.#drawn = true
    if (isWayland && !this.visible) this.once('show', () => this.emit('ready-to-show'))
    else this.emit('ready-to-show')
  }

  show(): void {
    this.showInactive()
    this.focus()
  }

  showInactive(): void {
    if (!this.visible) {
      this.visible = true
      this.shownBeforeDrawn ||= !this.#drawn
      this.#reportVisibility()
      this.emit('show')
    }
  }

  hide(): void {
    this.blur()
    if (this.visible) {
      this.visible = false
      this.#reportVisibility()
      this.emit('hide')
    }
  }

  focus(): void {
    if (this.#focused || !this.visible) return
    this.#focused = true
    this.#reportVisibility()
    this.emit('focus')
  }

  blur(): void {
    if (!this.#focused) return
    this.#focused = false
    this.#reportVisibility()
    this.emit('blur')
  }

  /** Reports the page's visibility to the process that shows it. */
  #reportVisibility(): void {
    tell({ event: 'visibility', window: this.id, visible: this.visible, focused: this.#focused })
  }

  isFocused(): boolean {
    return this.#focused
  }

  isVisible(): boolean {
    return this.visible
  }

  minimize(): void {
    this.#minimized = true
    this.blur()
    this.emit('minimize')
  }

  restore(): void {
    this.#minimized = false
    this.emit('restore')
  }

  isMinimized(): boolean {
    return this.#minimized
  }

  /** native_window_views.cc, `NativeWindowViews::Maximize`: shows a hidden window. */
  maximize(): void {
    this.#maximized = true
    this.showInactive()
    this.emit('maximize')
  }

  unmaximize(): void {
    this.#maximized = false
    this.emit('unmaximize')
  }

  isMaximized(): boolean {
    return this.#maximized
  }

  setFullScreen(full: boolean): void {
    this.#fullScreen = full
    this.emit(full ? 'enter-full-screen' : 'leave-full-screen')
  }

  isFullScreen(): boolean {
    return this.#fullScreen
  }

  getBounds(): Electron.Rectangle {
    return this.#bounds
  }

  getNormalBounds(): Electron.Rectangle {
    return this.#bounds
  }

  setBounds(bounds: Partial<Electron.Rectangle>): void {
    this.#bounds = { ...this.#bounds, ...bounds }
    this.emit('move')
    this.emit('moved')
    this.emit('resize')
    this.emit('resized')
  }

  getSize(): [number, number] {
    return [this.#bounds.width, this.#bounds.height]
  }

  getPosition(): [number, number] {
    return [this.#bounds.x, this.#bounds.y]
  }

  setPosition(x: number, y: number): void {
    this.setBounds({ x, y })
  }

  moveTop(): void {}
  center(): void {}
  setMenuBarVisibility(): void {}
  setMenu(): void {}
  removeMenu(): void {}
  setTitle(): void {}
  setBackgroundColor(): void {}
  setSkipTaskbar(): void {}

  loadURL(url: string): Promise<void> {
    return this.webContents.loadURL(url)
  }

  reload(): void {
    this.webContents.reload()
  }

  /**
   * Acts like a click on the close button. electron_api_base_window.cc, `WillCloseWindow`: asks at once and closes a
   * moment later. window_list.cc: preventing it also prevents a quit that is under way.
   * electron_api_browser_window.cc, `BeforeUnloadDialogCancelled`: and so does a page that keeps its window.
   */
  close(): void {
    let prevented = false
    this.emit('close', {
      preventDefault: () => {
        prevented = true
      },
    })
    if (prevented || this.webContents.keepsWindow()) for (const hear of windowList.onCloseCancelled) hear()
    else setImmediate(() => this.destroy())
  }

  isDestroyed(): boolean {
    return this.webContents.destroyed
  }

  destroy(): void {
    if (this.isDestroyed()) return
    this.visible = false
    this.webContents.destroyed = true
    tell({ event: 'close', window: this.id })
    this.emit('closed')
    windowList.remove(this)
  }
}

/**
 * native_window_views_win.cc, `WM_QUERYENDSESSION` and `WM_ENDSESSION`: only windows get an event, first a query, then
 * the end. The process is killed at once unless it is already quitting.
 */
export function endSession(): void {
  const event = { reasons: ['shutdown'], preventDefault: () => undefined }
  for (const window of [...windows]) window.emit('query-session-end', event)
  for (const window of [...windows]) window.emit('session-end', event)
  if (!app.isQuitting) process.kill(process.pid, 'SIGKILL')
}
