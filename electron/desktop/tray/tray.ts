import {
  Menu,
  type MenuItemConstructorOptions,
  nativeImage,
  nativeTheme,
  type Rectangle,
  Tray,
} from 'electron'
import type { RunningBerth } from '#core/running.ts'
import { type TrayState, trayImageName } from '#platform/tray-images.ts'
import { trayMenu } from './tray-menu.ts'
import { type TrayDesktop, traySize, trayStatus, trayTone } from './tray-status.ts'
import { type MenuItemModel, menuShape, type TrayAction } from './tray-words.ts'

export interface TrayOptions {
  berth: RunningBerth
  /** The folder of the built images. */
  pictures: string
  act: (action: TrayAction) => void
  /** Called on a click on the icon; `near` is its position, if the desktop reports it. */
  open: (near: Rectangle | undefined) => void
}

/** Milliseconds between two menus that differ in figures alone. */
const figuresEvery = 15_000

/** Shows the tray icon and updates it with State. Gives the function that removes it. */
export function showTray({ berth, pictures, act, open }: TrayOptions): () => void {
  const picture = (state: TrayState) => pictureOf(pictures, state, desktopNow())
  let status = trayStatus(berth.state())
  const tray = new Tray(picture(status.state))
  // On macOS a click opens the menu, as with other icons.
  if (process.platform !== 'darwin')
    tray.on('click', () => {
      const bounds = tray.getBounds()
      open(bounds.width > 0 ? bounds : undefined)
    })

  function drawFace(): void {
    const next = trayStatus(berth.state())
    if (next.state !== status.state) tray.setImage(picture(next.state))
    if (next.tooltip !== status.tooltip) tray.setToolTip(next.tooltip)
    if (next.title !== status.title && process.platform === 'darwin') tray.setTitle(next.title)
    status = next
  }

  let menu = ''
  let shape = ''
  let drawnAt = 0
  function drawMenu(): void {
    const state = berth.state()
    const now = Date.now()
    const model = trayMenu(state, now, berth.spentToday(state.shown ?? ''))
    // Replaced only when its content has changed, and seldom for figures alone: it closes under the user's pointer.
    const next = JSON.stringify(model)
    const nextShape = menuShape(model)
    if (next === menu || (nextShape === shape && Math.abs(now - drawnAt) < figuresEvery)) return
    menu = next
    shape = nextShape
    drawnAt = now
    tray.setContextMenu(Menu.buildFromTemplate(model.map(item => template(item, act))))
  }

  function draw(): void {
    drawFace()
    drawMenu()
  }

  const drawPicture = () => tray.setImage(picture(status.state))
  tray.setToolTip(status.tooltip)
  if (process.platform === 'darwin') tray.setTitle(status.title)
  draw()
  nativeTheme.on('updated', drawPicture)
  const stop = berth.onChange(draw)
  return () => {
    stop()
    nativeTheme.off('updated', drawPicture)
    tray.destroy()
  }
}

/** Electron finds the images for high resolutions beside it, by their names. */
function pictureOf(folder: string, state: TrayState, desktop: TrayDesktop): Electron.NativeImage {
  const tone = trayTone(desktop)
  const name = trayImageName({ state, tone, size: traySize(desktop), scale: 1 })
  const image = nativeImage.createFromPath(`${folder}/${name}`)
  if (tone === 'template') image.setTemplateImage(true)
  return image
}

/** Windows has separate themes for its taskbar and for apps. */
function desktopNow(): TrayDesktop {
  const { shouldUseDarkColors, shouldUseDarkColorsForSystemIntegratedUI } = nativeTheme
  return {
    platform: process.platform,
    desktop: process.env['XDG_CURRENT_DESKTOP'],
    dark: process.platform === 'win32' ? shouldUseDarkColorsForSystemIntegratedUI : shouldUseDarkColors,
  }
}

function template(item: MenuItemModel, act: (action: TrayAction) => void): MenuItemConstructorOptions {
  if ('separator' in item) return { type: 'separator' }
  const { action, submenu } = item
  return {
    // A single ampersand would mark the next letter as a shortcut.
    label: item.label.replaceAll('&', '&&'),
    enabled: action !== undefined || submenu !== undefined,
    click: action ? () => act(action) : undefined,
    submenu: submenu ? submenu.map(entry => template(entry, act)) : undefined,
  }
}
