import type { BrowserWindow } from 'electron'
import { detailsOf } from '../page-origin.ts'
import { keepPlace, onceDrawn, openPageWindow, type PageWindowOptions, storedPlace } from './page-window.ts'

/** Points. */
const usualSize = { width: 900, height: 600 }
const placeName = 'details '
/** More than a user needs; a faulty page could ask for any number. */
const most = 16

/**
 * Opens an instance's details in their own window, or shows the open one. Gives false for addresses other than those of
 * details, and at the limit.
 */
export function createDetailsWindows(options: PageWindowOptions): (address: string) => boolean {
  const windows = new Map<string, BrowserWindow>()

  return address => {
    const instance = detailsOf(address)
    if (instance === undefined) return false
    const open = windows.get(instance)
    if (open) {
      if (open.isMinimized()) open.restore()
      open.show()
      open.focus()
      return true
    }
    if (windows.size >= most) return false
    const place = storedPlace(options.places, placeName) ?? { ...usualSize, maximized: false }
    const { width, height, maximized } = place
    // Further windows get no position, so that they do not cover the first.
    const window = openPageWindow(options, windows.size > 0 ? { width, height, maximized } : place, address)
    windows.set(instance, window)
    onceDrawn(window, options.clock, () => {
      if (window.isDestroyed() || window.isVisible()) return
      if (maximized) window.maximize()
      window.show()
    })
    keepPlace(window, options.places, placeName)
    window.once('closed', () => windows.delete(instance))
    return true
  }
}
