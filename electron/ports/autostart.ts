/** How Berth starts when the user logs in: not at all, with its window, or in the tray alone. */
export type StartAtLogin = 'no' | 'window' | 'tray'

/** What of this machine starts programs when the user logs in. */
export interface Autostart {
  /** How it is now; the user may change it outside of Berth. */
  read(): Promise<StartAtLogin>
  /** Rejects where it cannot be written. */
  choose(how: StartAtLogin): Promise<void>
}
