import type { Freeze } from '#platform/platform.ts'

/** The variable by which a Berth that ends itself tells the next one of its freezes: `moment/seconds`, by spaces. */
export const freezesVariable = 'BERTH_FREEZES'

/** Berth starts anew at most so often in that many milliseconds: a freeze that returns each time is only told. */
const mostRestarts = 3
const restartsWithin = 3_600_000

/** The freezes after which Berth has started anew, oldest first. */
export function freezesIn(env: Readonly<Record<string, string | undefined>>): Freeze[] {
  return (env[freezesVariable] ?? '').split(' ').flatMap(text => {
    const [at, seconds] = text.split('/').map(Number)
    return at && seconds ? [{ at, seconds, restarted: true }] : []
  })
}

/** The freezes to tell the next Berth of; undefined if it would be one too many. */
export function freezesAfter(before: readonly Freeze[], now: number, seconds: number): string | undefined {
  const recent = before.filter(({ at }) => Math.abs(now - at) < restartsWithin)
  if (recent.length >= mostRestarts) return undefined
  return [...recent, { at: now, seconds }].map(({ at, seconds }) => `${at}/${seconds}`).join(' ')
}

/** Counts how long the main thread has been silent, in ticks of another thread. */
export class Silence {
  readonly #every: number
  #seen = -1
  #ticks = 0
  #last: number | undefined

  /** `every`: milliseconds between ticks. */
  constructor(every: number) {
    this.#every = every
  }

  /**
   * Seconds of silence at this tick. A late tick means that the whole process stood still, as while the computer
   * sleeps, and counting begins anew.
   * @param beats grows while the main thread runs
   * @param now monotonic milliseconds
   */
  tick(beats: number, now: number): number {
    const isLate = this.#last !== undefined && now - this.#last > 3 * this.#every
    this.#last = now
    this.#ticks = isLate || beats !== this.#seen ? 0 : this.#ticks + 1
    this.#seen = beats
    return (this.#ticks * this.#every) / 1000
  }
}
