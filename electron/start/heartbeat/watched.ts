import type { Freeze } from '#platform/platform.ts'

/** Milliseconds between two signs of life of the main thread, and between two looks of the watcher. */
export const tickEvery = 5_000
/** Seconds of silence after which Berth starts anew. */
export const mostSilence = 60

/** The numbers that both threads share. */
export const slots = {
  /** Grows with each sign of life. */
  count: 0,
  /** 1 while a debugger may hold the main thread. */
  debugged: 1,
  /** Seconds of silence that the watcher has noticed, until the main thread has read them. */
  silence: 2,
} as const

/** What the watcher is given. */
export interface Watched {
  beats: Int32Array<SharedArrayBuffer>
  /** Freezes after which Berth has started anew. */
  before: readonly Freeze[]
  /** Paths of the log, and of a file for what the new Berth prints. */
  log: string
  output: string
  program: string
  args: readonly string[]
}
