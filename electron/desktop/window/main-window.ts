import { type BrowserWindow, type Rectangle, screen } from 'electron'
import { pageAddress } from '../page-origin.ts'
import {
  keepPlace,
  onceDrawn,
  openPageWindow,
  type PageWindowOptions,
  storedPlace,
  type WindowPlace,
} from './page-window.ts'
import { arrangement, besideTray } from './placing.ts'

/** Points: wide enough for a list beside the details of its opened row. */
const usualSize = { width: 1120, height: 740 }

/** Milliseconds until a hidden window ends with its page, which hold a third of Berth's memory. */
const restAfter = 300_000

export interface MainWindowOptions extends PageWindowOptions {
  /** Whether closing only hides it, as there is a tray. */
  hides: () => boolean
  /** Whether closing must really close it, since the cause of Berth's end waits for the windows. */
  closes: () => boolean
  /** Whether the end of its page would cut something off. */
  isBusy: (window: BrowserWindow) => boolean
  /** Called when a hidden window ends, which the next `show` opens again where it was. */
  onRest: () => void
  /** Called when the window is closed and does not hide: ends Berth, unless the user stays. */
  /** Called when its closing left Berth in the tray. */
  onHidden: () => void
  quit: () => void
}

/** Berth's main window: created when it is first needed, and shown once it has content. */
export class MainWindow {
  readonly #options: MainWindowOptions
  #window: BrowserWindow | undefined
  /** Shows a window that still waits for its first frame. */
  #reveal: (() => void) | undefined
  /** Where the page was when its hidden window ended. */
  #address = pageAddress
  #cancelRest: () => void = () => undefined
  /** The arrangement of the screens when it was last placed. */
  #arrangement = ''

  constructor(options: MainWindowOptions) {
    this.#options = options
  }

  /** Shows it at its stored place for these screens, else near the tray icon, if its position is known. */
  show(near?: Rectangle): void {
    const window = this.#window
    this.#cancelRest()
    if (window === undefined) {
      this.#open(near)
      return
    }
    if (this.#reveal) return
    if (window.isMinimized()) window.restore()
    if (!window.isVisible() && arrangement(screen.getAllDisplays()) !== this.#arrangement) {
      const { maximized, ...place } = this.#place(near)
      window.setBounds(place)
      if (maximized) window.maximize()
    }
    window.show()
    window.focus()
  }

  /** Shows it if it is hidden. */
  keepInReach(): void {
    if (!this.#window?.isVisible() && !this.#reveal) this.show()
  }

  /** Hides it; Berth continues in the tray, and after a while without the window. */
  hide(): void {
    this.#reveal = undefined
    this.#window?.hide()
    this.#restSoon()
  }

  #restSoon(): void {
    this.#cancelRest()
    this.#cancelRest = this.#options.clock.after(restAfter, () => {
      const window = this.#window
      if (window === undefined || window.isVisible()) return
      if (this.#options.isBusy(window)) return this.#restSoon()
      this.#address = window.webContents.getURL()
      this.#options.onRest()
      window.destroy()
    })
  }

  #open(near: Rectangle | undefined): void {
    const place = this.#place(near)
    const window = openPageWindow(this.#options, place, this.#address)
    this.#window = window
    this.#address = pageAddress
    this.#revealSoon(window, place.maximized)
    keepPlace(window, this.#options.places, '', () => {
      this.#arrangement = arrangement(screen.getAllDisplays())
    })
    window.on('close', event => {
      if (this.#options.closes()) return
      event.preventDefault()
      if (!this.#options.hides()) return this.#options.quit()
      this.hide()
      this.#options.onHidden()
    })
    window.once('closed', () => {
      this.#cancelRest()
      this.#window = undefined
      this.#reveal = undefined
    })
  }

  #revealSoon(window: BrowserWindow, maximized: boolean): void {
    const reveal = () => {
      if (this.#reveal !== reveal) return
      this.#reveal = undefined
      // Not before: `maximize` shows a hidden window.
      if (maximized) window.maximize()
      window.show()
    }
    this.#reveal = reveal
    onceDrawn(window, this.#options.clock, reveal)
  }

  #place(near: Rectangle | undefined): WindowPlace {
    const screens = screen.getAllDisplays()
    this.#arrangement = arrangement(screens)
    const place = storedPlace(this.#options.places, '')
    if (place) return place
    // Without a stored place or an icon, the desktop chooses the position.
    return { ...(near ? besideTray(usualSize, near, screens) : usualSize), maximized: false }
  }
}
