/** How Berth starts when the user logs in: not at all, with its window, or only in the tray. */
export type StartAtLogin = 'no' | 'window' | 'tray'

/** The desktop's start of programs at login. */
export interface Autostart {
  /** Whether Berth starts at login; the user may change it outside of Berth. */
  isOn(): Promise<boolean>
  /** Rejects if it cannot be written. */
  choose(how: StartAtLogin): Promise<void>
}
