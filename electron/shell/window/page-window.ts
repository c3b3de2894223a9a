import { app, BrowserWindow, nativeTheme, type Rectangle, screen } from 'electron'
import type { Clock } from '../../ports/clock.ts'
import { arrangement, visiblePlace } from './placing.ts'
import type { StoredPlaces } from './stored-places.ts'

/** The page's own grounds, so that nothing flashes before it is drawn. */
const grounds = { light: '#fbfbfa', dark: '#17181a' }

/** Milliseconds that a new window waits for its page's first picture. */
const patience = 2_000

/** What all windows of Berth's have in common. */
export interface PageWindowOptions {
  /** The absolute path of the built preload. */
  preload: string
  /** The absolute path of Berth's picture: Linux takes a window's from nowhere else where Berth is not installed. */
  icon: string
  places: StoredPlaces
  /** A window is there, and its page is about to be loaded. */
  onOpen: (window: BrowserWindow) => void
  clock: Clock
}

/** Where a window is put; without coordinates, where the desktop puts new windows. */
export type WindowPlace = Partial<Rectangle> & { width: number; height: number; maximized: boolean }

/** A new window with Berth's page in it, not shown yet. */
export function openPageWindow(
  { preload, icon, onOpen }: PageWindowOptions,
  { maximized: _, ...place }: WindowPlace,
  address: string,
): BrowserWindow {
  const window = new BrowserWindow({
    ...place,
    minWidth: 480,
    minHeight: 360,
    show: false,
    title: 'Berth',
    ...(process.platform === 'linux' && { icon }),
    backgroundColor: nativeTheme.shouldUseDarkColors ? grounds.dark : grounds.light,
    autoHideMenuBar: true,
    webPreferences: {
      preload,
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
  onOpen(window)
  void window.loadURL(address)
  return window
}

/**
 * Calls back once its page has drawn something, so that nothing flashes. On Wayland a hidden window may never be told
 * so; then once the page was loaded, or after a while. It may call back more than once.
 */
export function onceDrawn(window: BrowserWindow, clock: Clock, reveal: () => void): void {
  window.once('ready-to-show', reveal)
  window.webContents.once('did-finish-load', reveal)
  const cancel = clock.after(patience, reveal)
  window.once('closed', cancel)
}

/** Where a window of that name was, as the screens stand now. */
export function storedPlace(places: StoredPlaces, name: string): WindowPlace | undefined {
  const screens = screen.getAllDisplays()
  const kept = places.get(name + arrangement(screens))
  return kept && { ...visiblePlace(kept, screens), maximized: kept.maximized }
}

/** Keeps where a window is, under that name, whenever the user changes it. */
export function keepPlace(
  window: BrowserWindow,
  places: StoredPlaces,
  name: string,
  onStored?: () => void,
): void {
  const keep = () => {
    if (window.isMinimized() || window.isFullScreen() || !window.isVisible()) return
    const { x, y, width, height } = window.getNormalBounds()
    const place = { x, y, width, height, maximized: window.isMaximized() }
    places.keep(name + arrangement(screen.getAllDisplays()), place)
    onStored?.()
  }
  for (const event of ['resize', 'move', 'maximize', 'unmaximize'] as const)
    window.on(event as 'resize', keep)
}
