import { Menu, type MenuItemConstructorOptions, nativeImage, Tray } from 'electron'
import type { RunningBerth } from '../../core/running.ts'
import large from './icons/tray@2x.png?inline'
import small from './icons/tray.png?inline'
import { type MenuItemModel, type TrayAction, trayMenu, trayTooltip } from './tray-menu.ts'

/** Puts Berth in the tray and keeps its menu as State says. Gives the function that takes it away. */
export function showTray(berth: RunningBerth, act: (action: TrayAction) => void): () => void {
  const icon = nativeImage.createFromDataURL(small)
  icon.addRepresentation({ scaleFactor: 2, dataURL: large })
  if (process.platform === 'darwin') icon.setTemplateImage(true)
  const tray = new Tray(icon)
  tray.on('click', () => act({ kind: 'open' }))

  let shown = ''
  function draw(): void {
    const model = trayMenu(berth.state())
    const tooltip = trayTooltip(berth.state())
    // A menu that is replaced closes under the user's pointer: only when what it shows has changed.
    const next = JSON.stringify([tooltip, model])
    if (next === shown) return
    shown = next
    tray.setToolTip(tooltip)
    tray.setContextMenu(Menu.buildFromTemplate(model.map(item => template(item, act))))
  }

  draw()
  const stop = berth.onChange(draw)
  return () => {
    stop()
    tray.destroy()
  }
}

function template(item: MenuItemModel, act: (action: TrayAction) => void): MenuItemConstructorOptions {
  if ('separator' in item) return { type: 'separator' }
  const { action, submenu } = item
  return {
    // An ampersand would mark the letter behind it as a shortcut.
    label: item.label.replaceAll('&', '&&'),
    enabled: action !== undefined || submenu !== undefined,
    ...(action && { click: () => act(action) }),
    ...(submenu && { submenu: submenu.map(entry => template(entry, act)) }),
  }
}
