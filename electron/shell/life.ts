import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { app, powerMonitor } from 'electron'
import type { RunningBerth } from '../core/running.ts'
import type { Endings } from '../local/endings.ts'

/** Puts what Chromium keeps below Berth's home. Before anything asks for it. */
export function keepChromiumIn(home: string): void {
  const folder = join(home, 'electron')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  app.setPath('userData', folder)
}

/** Lets Electron end only after everything of Berth's has ended in order. */
export function endInOrder(endings: Endings): void {
  let ended = false
  app.on('before-quit', event => {
    if (ended) return
    event.preventDefault()
    void endings.end().then(() => {
      ended = true
      app.exit(0)
    })
  })
  // A window that is closed does not end Berth by itself: it may go on in the tray.
  app.on('window-all-closed', () => undefined)
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => app.quit())
}

/** A machine that slept knows nothing of what happened since. */
export function lookOnWake(berth: RunningBerth): void {
  powerMonitor.on('resume', () => berth.lookNow())
  powerMonitor.on('unlock-screen', () => berth.lookNow())
}

/** Shows the window whenever the page is sent somewhere: by a notification, the tray or a link. */
export function showOnGoTo(berth: RunningBerth, show: () => void): void {
  berth.onChange((after, before) => {
    if (after.goTo !== undefined && after.goTo.sequence !== before.goTo?.sequence) show()
  })
}
