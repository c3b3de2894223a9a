import { EventEmitter } from 'node:events'
import type * as Electron from 'electron'
import type { Menu } from './menu.ts'
import { needsReady } from './needs-ready.ts'

export const trays: Tray[] = []

type Doubled =
  | 'setToolTip'
  | 'setTitle'
  | 'getTitle'
  | 'setIgnoreDoubleClickEvents'
  | 'getBounds'
  | 'destroy'
  | 'isDestroyed'

export class Tray extends EventEmitter implements Pick<Electron.Tray, Doubled> {
  static made = 0
  tooltip = ''
  title = ''
  image: unknown
  menu: Menu | null = null
  /** The number of menus and images set so far. */
  menus = 0
  images = 1
  #destroyed = false

  constructor(image: unknown) {
    super()
    // electron_api_tray.cc, `Tray::New`.
    needsReady('Cannot create Tray before app is ready')
    this.image = image
    Tray.made++
    trays.push(this)
  }

  setToolTip(text: string): void {
    this.tooltip = text
  }

  setTitle(title: string): void {
    this.title = title
  }

  getTitle(): string {
    return this.title
  }

  setImage(image: unknown): void {
    this.image = image
    this.images++
  }

  setPressedImage(): void {}

  setContextMenu(menu: Menu | null): void {
    this.menu = menu
    this.menus++
  }

  popUpContextMenu(): void {}
  closeContextMenu(): void {}
  setIgnoreDoubleClickEvents(): void {}

  /** tray_icon.cc, `TrayIcon::GetBounds`: unknown on Linux. */
  getBounds(): Electron.Rectangle {
    return { x: 0, y: 0, width: 0, height: 0 }
  }

  destroy(): void {
    this.#destroyed = true
    if (trays.includes(this)) trays.splice(trays.indexOf(this), 1)
  }

  isDestroyed(): boolean {
    return this.#destroyed
  }
}
