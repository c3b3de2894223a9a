import { app, BrowserWindow, nativeTheme, type Rectangle, screen } from 'electron'
import type { Clock } from '../../ports/clock.ts'
import { pageAddress } from '../page-address.ts'
import type { KeptPlaces } from './kept-places.ts'
import { arrangement, besideTray, visiblePlace } from './placing.ts'

/** The page's own grounds, so that nothing flashes before it is drawn. */
const grounds = { light: '#fbfbfa', dark: '#17181a' }
/** Points. */
const usualSize = { width: 1080, height: 720 }

export interface MainWindowOptions {
  /** The absolute path of the built preload. */
  preload: string
  /** The absolute path of Berth's picture: Linux takes a window's from nowhere else where Berth is not installed. */
  icon: string
  places: KeptPlaces
  /** Whether closing hides it: there is a tray to open it from. */
  hides: () => boolean
  onOpen: (window: BrowserWindow) => void
  /** Whether closing must close it: something ends Berth that waits for its windows. */
  closes: () => boolean
  /** It was to be closed, and does not hide: Berth ends, or the window stays. */
  quit: () => void
  clock: Clock
}

/** Milliseconds that a new window waits for its page's first picture. */
const patience = 2_000

/** Berth's one window: made when it is first wanted, and shown once it has something to show. */
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
    const { maximized, ...place } = this.#place(near)
    const window = new BrowserWindow({
      ...place,
      minWidth: 480,
      minHeight: 360,
      show: false,
      title: 'Berth',
      ...(process.platform === 'linux' && { icon: this.#options.icon }),
      backgroundColor: nativeTheme.shouldUseDarkColors ? grounds.dark : grounds.light,
      autoHideMenuBar: true,
      webPreferences: {
        preload: this.#options.preload,
        sandbox: true,
        contextIsolation: true,
        nodeIntegration: false,
        nodeIntegrationInWorker: false,
        nodeIntegrationInSubFrames: false,
        webSecurity: true,
        webviewTag: false,
        spellcheck: false,
        navigateOnDragDrop: false,
        devTools: !app.isPackaged,
      },
    })
    this.#window = window
    this.#revealSoon(window, maximized)
    for (const event of ['resize', 'move', 'maximize', 'unmaximize'] as const)
      window.on(event as 'resize', () => this.#keepPlace(window))
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
    this.#options.onOpen(window)
    void window.loadURL(pageAddress)
  }

  /**
   * Shows it once its page has drawn something, so that nothing flashes. On Wayland a hidden window may never be told
   * so; then it is shown once the page was loaded, or after a while.
   */
  #revealSoon(window: BrowserWindow, maximized: boolean): void {
    const reveal = () => {
      if (this.#reveal !== reveal) return
      this.#reveal = undefined
      // Not before: it shows a hidden window.
      if (maximized) window.maximize()
      window.show()
    }
    this.#reveal = reveal
    window.once('ready-to-show', reveal)
    window.webContents.once('did-finish-load', reveal)
    const cancel = this.#options.clock.after(patience, reveal)
    window.once('closed', cancel)
  }

  #place(
    near: Rectangle | undefined,
  ): Partial<Rectangle> & { width: number; height: number; maximized: boolean } {
    const screens = screen.getAllDisplays()
    this.#arrangement = arrangement(screens)
    const kept = this.#options.places.get(this.#arrangement)
    if (kept) return { ...visiblePlace(kept, screens), maximized: kept.maximized }
    // Without a place of its own, a new window goes where the desktop puts new windows.
    return { ...(near ? besideTray(usualSize, near, screens) : usualSize), maximized: false }
  }

  #keepPlace(window: BrowserWindow): void {
    if (window.isMinimized() || window.isFullScreen() || !window.isVisible()) return
    this.#arrangement = arrangement(screen.getAllDisplays())
    const { x, y, width, height } = window.getNormalBounds()
    this.#options.places.keep(this.#arrangement, { x, y, width, height, maximized: window.isMaximized() })
  }
}
