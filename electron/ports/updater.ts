/** Where newer versions of Berth come from. */
export interface Updater {
  /** Asks for the newest version; undefined when this one is. */
  check(): Promise<string | undefined>
  /** Fetches what was found, and checks it. `onPercent` is told how far it is, 0 to 100. */
  fetch(onPercent: (percent: number) => void): Promise<void>
  /** Ends Berth; the new version takes its place and starts. */
  install(): void
}
