import type { RunningBerth } from '#core/running.ts'
import type { Clock, Files, Notice } from '#platform/platform.ts'
import type { Shutdown } from '#start/shutdown.ts'
import { notifyOnce } from '../notifications.ts'
import type { TrayHost } from './tray-host.ts'

export interface FollowOptions {
  berth: RunningBerth
  files: Files
  clock: Clock
  shutdown: Shutdown
  host: TrayHost
  /** Shows the icon; gives the function that removes it. */
  showIcon: () => () => void
  showWindow: () => void
  /** Shows the window if it is hidden. */
  keepInReach: () => void
  /** Whether the window is open already, or Berth starts without it. */
  hidden: boolean
}

/** Milliseconds for a panel to appear after Berth, where both start with the session. */
const patience = 10_000

/**
 * Keeps Berth within reach when the desktop's tray comes and goes: with a tray its icon is shown, without one its
 * window. The icon is created once, since it finds later trays on its own.
 */
export function followTray(options: FollowOptions): void {
  const { berth, clock, shutdown, host, keepInReach } = options
  let shown = false

  function follow(present: boolean): void {
    if (present !== berth.state().app.tray) berth.noteTray(present)
    if (!present) keepInReach()
    if (!present || shown) return
    shown = true
    shutdown.add(options.showIcon())
  }

  function goWithout(notice: Pick<Notice, 'id' | 'title' | 'body'>): void {
    follow(false)
    void notifyOnce(berth, options.files, notice)
  }

  host.onChange(present => {
    stopWaiting()
    follow(present)
  })
  // A panel may appear after Berth at the start of a session.
  const stopWaiting = clock.after(patience, () => {
    if (!host.present()) goWithout(noTray)
  })
  shutdown.add(stopWaiting)
  if (host.present() || !host.possible) stopWaiting()
  if (host.present()) follow(true)
  if (!host.possible) {
    process.stderr.write(`${noBus.title}. ${noBus.body}\n`)
    goWithout(noBus)
  }
  if (!options.hidden) options.showWindow()
}

const noBus = {
  id: 'no-bus',
  title: 'This session has no D-Bus',
  body: 'Without it there’s no tray icon, and notifications appear in Berth’s window. Closing the window quits Berth.',
}

const noTray = {
  id: 'no-tray',
  title: 'This desktop has no tray',
  body:
    'Berth runs in a normal window, and closing it quits Berth. ' +
    'On GNOME, the extension “AppIndicator and KStatusNotifierItem Support” adds a tray.',
}
