/** The source of new versions of Berth. */
export interface Updater {
  /** The newest version; undefined if it is this one. */
  check(): Promise<string | undefined>
  /** Downloads and verifies the version that `check` found. `onPercent` gets the progress, 0 to 100. */
  fetch(onPercent: (percent: number) => void): Promise<void>
  /** Ends Berth; the new version takes its place and starts. */
  install(): void
}
