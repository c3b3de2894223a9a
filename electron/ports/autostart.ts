/** How Berth starts when the user logs in: not at all, with its window, or in the tray alone. */
export type StartAtLogin = 'no' | 'window' | 'tray'

/** What of this machine starts programs when the user logs in. */
export interface Autostart {
  /** Whether Berth is started; the user may change it outside of Berth. */
  isOn(): Promise<boolean>
  /** Rejects where it cannot be written. */
  choose(how: StartAtLogin): Promise<void>
}
