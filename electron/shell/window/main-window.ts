import { type BrowserWindow, type Rectangle, screen } from 'electron'
import { pageAddress } from '../page-address.ts'
import {
  keepPlace,
  onceDrawn,
  openPageWindow,
  type PageWindowOptions,
  storedPlace,
  type WindowPlace,
} from './page-window.ts'
import { arrangement, besideTray } from './placing.ts'

/** Points. */
const usualSize = { width: 1080, height: 720 }

export interface MainWindowOptions extends PageWindowOptions {
  /** Whether closing hides it: there is a tray to open it from. */
  hides: () => boolean
  /** Whether closing must close it: something ends Berth that waits for its windows. */
  closes: () => boolean
  /** It was to be closed, and does not hide: Berth ends, or the window stays. */
  quit: () => void
}

/** The window that Berth lives in: made when it is first wanted, and shown once it has something to show. */
export class MainWindow {
  readonly #options: MainWindowOptions
  #window: BrowserWindow | undefined
  /** Shows a window that waits for its page's first picture. */
  #reveal: (() => void) | undefined
  /** The screens as they stood when it was last placed. */
  #arrangement = ''

  constructor(options: MainWindowOptions) {
    this.#options = options
  }

  /** Brings it before the user: where it was on these screens, or else near the tray's icon, where that is known. */
  show(near?: Rectangle): void {
    const window = this.#window
    if (window === undefined) {
      this.#open(near)
      return
    }
    if (this.#reveal) {
      this.#reveal()
      return
    }
    if (window.isMinimized()) window.restore()
    if (!window.isVisible() && arrangement(screen.getAllDisplays()) !== this.#arrangement) {
      const { maximized, ...place } = this.#place(near)
      window.setBounds(place)
      if (maximized) window.maximize()
    }
    window.show()
    window.focus()
  }

  /** Shows it where it is hidden, and leaves it alone where it is not. */
  keepInReach(): void {
    if (!this.#window?.isVisible() && !this.#reveal) this.show()
  }

  /** Leaves Berth in the tray. */
  hide(): void {
    this.#reveal = undefined
    this.#window?.hide()
  }

  #open(near: Rectangle | undefined): void {
    const place = this.#place(near)
    const window = openPageWindow(this.#options, place, pageAddress)
    this.#window = window
    this.#revealSoon(window, place.maximized)
    keepPlace(window, this.#options.places, '', () => {
      this.#arrangement = arrangement(screen.getAllDisplays())
    })
    window.on('close', event => {
      if (this.#options.closes()) return
      event.preventDefault()
      if (this.#options.hides()) this.hide()
      else this.#options.quit()
    })
    window.once('closed', () => {
      this.#window = undefined
      this.#reveal = undefined
    })
  }

  #revealSoon(window: BrowserWindow, maximized: boolean): void {
    const reveal = () => {
      if (this.#reveal !== reveal) return
      this.#reveal = undefined
      // Not before: it shows a hidden window.
      if (maximized) window.maximize()
      window.show()
    }
    this.#reveal = reveal
    onceDrawn(window, this.#options.clock, reveal)
  }

  #place(near: Rectangle | undefined): WindowPlace {
    const screens = screen.getAllDisplays()
    this.#arrangement = arrangement(screens)
    const kept = storedPlace(this.#options.places, '')
    if (kept) return kept
    // Without a place of its own, a new window goes where the desktop puts new windows.
    return { ...(near ? besideTray(usualSize, near, screens) : usualSize), maximized: false }
  }
}
