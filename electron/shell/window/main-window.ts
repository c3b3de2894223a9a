import { app, BrowserWindow, nativeTheme, type Rectangle, screen } from 'electron'
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
  places: KeptPlaces
  /** Whether closing hides it: there is a tray to open it from. */
  hides: () => boolean
  onOpen: (window: BrowserWindow) => void
  /** It was to be closed, and does not hide: Berth ends, or the window stays. */
  quit: () => void
}

/** Berth's one window: made when it is first wanted, and shown once it has something to show. */
export class MainWindow {
  readonly #options: MainWindowOptions
  #window: BrowserWindow | undefined
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
    if (window.isMinimized()) window.restore()
    if (!window.isVisible() && arrangement(screen.getAllDisplays()) !== this.#arrangement) {
      const { maximized, ...place } = this.#place(near)
      window.setBounds(place)
      if (maximized) window.maximize()
    }
    window.show()
    window.focus()
  }

  /** Leaves Berth in the tray. */
  hide(): void {
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
    if (maximized) window.maximize()
    window.once('ready-to-show', () => window.show())
    for (const event of ['resize', 'move', 'maximize', 'unmaximize'] as const)
      window.on(event as 'resize', () => this.#keepPlace(window))
    window.on('close', event => {
      event.preventDefault()
      if (this.#options.hides()) window.hide()
      else this.#options.quit()
    })
    window.once('closed', () => {
      this.#window = undefined
    })
    this.#options.onOpen(window)
    void window.loadURL(pageAddress)
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
