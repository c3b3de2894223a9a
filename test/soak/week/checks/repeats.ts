import { rentalOf } from '../../../../electron/core/instances/mark.ts'
import type { Elsewhere } from '../elsewhere.ts'

/** Seconds by which an instance must be older than a request to have existed before it. */
const before = 0.5

/**
 * Checks that an instance is requested again only after a poll of the account since the first request, and only if it
 * does not exist: a lost answer, or a kill before it, does not show whether it was created.
 */
export class Repeats {
  readonly broken: string[] = []
  /** The number of repeated requests. */
  repeated = 0
  readonly #asked = new Set<string>()
  readonly #elsewhere: Elsewhere
  readonly #where: () => string

  /** `where`: describes the current time and poll. */
  constructor(elsewhere: Elsewhere, where: () => string) {
    this.#elsewhere = elsewhere
    this.#where = where
  }

  /**
   * `polled`: whether the process has polled the account since its last such request, or since its start. Gives a
   * further check for a repeated request; `now` in epoch seconds of world time.
   */
  asks(mark: string, polled: boolean, now: number): (() => void) | undefined {
    const isFirst = !this.#asked.has(mark)
    this.#asked.add(mark)
    if (isFirst) return undefined
    this.repeated += 1
    const where = this.#where()
    if (!polled) this.broken.push(`${where}: ${mark} was asked for again without a poll of the account`)
    return () => {
      const there = this.#elsewhere.instances()
      const one = there.find(
        ({ label, extra_env, start_date }) =>
          rentalOf(label, extra_env) === mark && start_date < now - before,
      )
      if (one) this.broken.push(`${where}: ${mark} was asked for again, though #${one.id} was there`)
    }
  }
}
