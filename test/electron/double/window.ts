import { EventEmitter } from 'node:events'
import type * as Electron from 'electron'
import { app } from './app.ts'
import { tell, WebContents } from './web-contents.ts'

export const windows: BrowserWindow[] = []
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

/** A window without a desktop: it knows where it would be and whether it would be seen. */
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
  #focused = false
  #minimized = false
  #maximized = false
  #fullScreen = false
  #bounds: Electron.Rectangle

  constructor(options: Electron.BrowserWindowConstructorOptions = {}) {
    super()
    this.options = options
    this.visible = options.show ?? true
    const { x = 0, y = 0, width = 800, height = 600 } = options
    this.#bounds = { x, y, width, height }
    windows.push(this)
    app.emit('web-contents-created', {}, this.webContents)
    app.emit('browser-window-created', {}, this)
    this.webContents.once('dom-ready', () => this.emit('ready-to-show'))
  }

  show(): void {
    this.showInactive()
    this.focus()
  }

  showInactive(): void {
    if (!this.visible) {
      this.visible = true
      this.#tellLook()
      this.emit('show')
    }
  }

  hide(): void {
    this.blur()
    if (this.visible) {
      this.visible = false
      this.#tellLook()
      this.emit('hide')
    }
  }

  focus(): void {
    if (this.#focused || !this.visible) return
    this.#focused = true
    this.#tellLook()
    this.emit('focus')
  }

  blur(): void {
    if (!this.#focused) return
    this.#focused = false
    this.#tellLook()
    this.emit('blur')
  }

  /** A page knows whether it is seen. */
  #tellLook(): void {
    tell({ event: 'look', window: this.id, visible: this.visible, focused: this.#focused })
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

  maximize(): void {
    this.#maximized = true
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

  /** As the user's click on its close button. */
  close(): void {
    let prevented = false
    this.emit('close', {
      preventDefault: () => {
        prevented = true
      },
    })
    if (!prevented) this.destroy()
  }

  isDestroyed(): boolean {
    return this.webContents.destroyed
  }

  destroy(): void {
    if (this.isDestroyed()) return
    this.visible = false
    this.webContents.destroyed = true
    windows.splice(windows.indexOf(this), 1)
    tell({ event: 'close', window: this.id })
    this.emit('closed')
    if (windows.length === 0) app.emit('window-all-closed')
  }
}
