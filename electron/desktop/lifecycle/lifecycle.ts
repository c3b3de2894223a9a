import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { app, powerMonitor } from 'electron'
import type { RunningBerth } from '#core/running.ts'
import { makeHome } from '#start/home.ts'

/** Puts Chromium's files below Berth's folder. Call before anything uses them. Throws a HomeError. */
export function keepChromiumIn(home: string): void {
  const folder = join(home, 'electron')
  makeHome(folder)
  app.setPath('userData', folder)
}

/** What Chromium draws with on Linux: the kernel's devices, and NVIDIA's own. */
const graphicsDevices = ['/dev/dri', '/dev/nvidiactl']

/**
 * Has Chromium draw without a GPU where Linux has none, as in a container. Otherwise its GPU process fails and is
 * started again, and under Wayland the window may never come. Call before Electron is ready.
 */
export function drawWithoutGpu(): void {
  if (process.platform === 'linux' && !graphicsDevices.some(existsSync)) app.disableHardwareAcceleration()
}

/** Sends what a sleep would hold up, of which a lock of the screen may come first, and polls at its end. */
export function heedSleep(berth: Pick<RunningBerth, 'pollNow' | 'beforeSleep'>): void {
  powerMonitor.on('suspend', () => berth.beforeSleep())
  powerMonitor.on('lock-screen', () => berth.beforeSleep())
  powerMonitor.on('resume', () => berth.pollNow())
  powerMonitor.on('unlock-screen', () => berth.pollNow())
}

/** Shows the window whenever the page is sent somewhere: by a notification, the tray or a link. */
export function showOnGoTo(berth: RunningBerth, show: () => void): void {
  berth.onChange((after, before) => {
    if (after.goTo !== undefined && after.goTo.id !== before.goTo?.id) show()
  })
}
