import { BrowserWindow, nativeTheme } from 'electron'
import { pageAddress } from '../page-address.ts'

/** The page's own grounds, so that nothing flashes before it is drawn. */
const grounds = { light: '#fbfbfa', dark: '#17181a' }

export interface MainWindowOptions {
  /** The absolute path of the built preload. */
  preload: string
  /** Whether closing hides it: there is a tray to open it from. */
  hides: () => boolean
  onOpen: (window: BrowserWindow) => void
  onClosed: () => void
}

/** Berth's one window: made when it is first wanted, and shown once it has something to show. */
export class MainWindow {
  readonly #options: MainWindowOptions
  #window: BrowserWindow | undefined
  #quitting = false

  constructor(options: MainWindowOptions) {
    this.#options = options
  }

  /** Brings it before the user. */
  show(): void {
    if (this.#window === undefined) this.#open()
    else {
      if (this.#window.isMinimized()) this.#window.restore()
      this.#window.show()
      this.#window.focus()
    }
  }

  /** From here on closing is closing. */
  release(): void {
    this.#quitting = true
  }

  #open(): void {
    const window = new BrowserWindow({
      width: 1080,
      height: 720,
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
      },
    })
    this.#window = window
    window.once('ready-to-show', () => window.show())
    window.on('close', event => {
      if (this.#quitting || !this.#options.hides()) return
      event.preventDefault()
      window.hide()
    })
    window.once('closed', () => {
      this.#window = undefined
      if (!this.#quitting) this.#options.onClosed()
    })
    this.#options.onOpen(window)
    void window.loadURL(pageAddress)
  }
}
