import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { app, powerMonitor } from 'electron'
import type { RunningBerth } from '#core/running.ts'

/** Puts Chromium's files below Berth's folder. Call before anything uses them. */
export function keepChromiumIn(home: string): void {
  const folder = join(home, 'electron')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  app.setPath('userData', folder)
}

/** Polls when the computer wakes or is unlocked. */
export function pollOnWake(berth: Pick<RunningBerth, 'pollNow'>): void {
  powerMonitor.on('resume', () => berth.pollNow())
  powerMonitor.on('unlock-screen', () => berth.pollNow())
}

/** Shows the window whenever the page is sent somewhere: by a notification, the tray or a link. */
export function showOnGoTo(berth: RunningBerth, show: () => void): void {
  berth.onChange((after, before) => {
    if (after.goTo !== undefined && after.goTo.sequence !== before.goTo?.sequence) show()
  })
}
