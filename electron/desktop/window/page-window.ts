import { app, BrowserWindow, Menu, nativeTheme, type Rectangle, screen, type WebContents } from 'electron'
import type { Clock, Files } from '#platform/platform.ts'
import type { Settings } from '#shared/settings.ts'
import { themeArgument } from '../channel.ts'
import { textMenu } from '../text-menu.ts'
import { arrangement, type StoredPlaces, visiblePlace } from './placing.ts'

/** The page's background colours, so that nothing flashes before the first frame. */
const grounds = { light: '#fbfbfa', dark: '#17181a' }

/** Milliseconds to wait for the page's first frame. */
const patience = 2_000

/** Options that all windows share. */
export interface PageWindowOptions {
  /** The absolute path of the built preload. */
  preload: string
  /** The absolute path of Berth's icon, which Linux needs for windows where Berth is not installed. */
  icon: string
  places: StoredPlaces
  /** The theme from the settings. */
  theme: () => Theme
  /** Called for each new window, before its page is loaded. */
  onOpen: (window: BrowserWindow) => void
  clock: Clock
}

type Theme = Settings['theme']

/** The theme from the settings file, for windows that open before Berth has read it. */
export async function storedTheme(files: Files): Promise<Theme> {
  try {
    const { theme } = JSON.parse((await files.read('settings.json')) ?? '{}')
    return theme === 'light' || theme === 'dark' ? theme : 'system'
  } catch {
    return 'system'
  }
}

/** A window's place; without coordinates the desktop chooses the position. */
export type WindowPlace = Partial<Rectangle> & { width: number; height: number; maximized: boolean }

/** Opens a new window with Berth's page, still hidden. */
export function openPageWindow(
  { preload, icon, theme, onOpen }: PageWindowOptions,
  { maximized: _, ...place }: WindowPlace,
  address: string,
): BrowserWindow {
  const chosen = theme()
  const isDark = chosen === 'system' ? nativeTheme.shouldUseDarkColors : chosen === 'dark'
  const window = new BrowserWindow({
    ...place,
    minWidth: 480,
    minHeight: 360,
    show: false,
    title: 'Berth',
    ...(process.platform === 'linux' && { icon }),
    backgroundColor: isDark ? grounds.dark : grounds.light,
    autoHideMenuBar: true,
    webPreferences: {
      preload,
      ...(chosen !== 'system' && { additionalArguments: [themeArgument + chosen] }),
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
 * Calls back once the page has drawn something, so that nothing flashes. On Wayland a hidden window may never report
 * that; then it calls back once the page has loaded or after `patience`. May call back several times.
 */
export function onceDrawn(window: BrowserWindow, clock: Clock, reveal: () => void): void {
  window.once('ready-to-show', reveal)
  window.webContents.once('did-finish-load', reveal)
  const cancel = clock.after(patience, reveal)
  window.once('closed', cancel)
}

/** The stored place of a window of that name, for the present screens. */
export function storedPlace(places: StoredPlaces, name: string): WindowPlace | undefined {
  const screens = screen.getAllDisplays()
  const place = places.get(name + arrangement(screens))
  return place && { ...visiblePlace(place, screens), maximized: place.maximized }
}

/** Stores a window's place under that name whenever it changes. */
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

/** Opens a context menu for text, which Electron lacks. */
export function offerContextMenu(contents: WebContents): void {
  contents.on('context-menu', (_event, clicked) => {
    const items = textMenu(clicked)
    const window = BrowserWindow.fromWebContents(contents)
    if (items.length > 0 && window) Menu.buildFromTemplate(items).popup({ window })
  })
}
