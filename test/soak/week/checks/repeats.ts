import { rentalOf } from '../../../../electron/core/instances/mark.ts'
import type { Elsewhere } from '../elsewhere.ts'

/** Seconds by which an instance must be older than a request to have been there before it. */
const before = 0.5

/**
 * An instance may be asked for a second time only once the account was looked at since the first, and does not have it:
 * an answer that did not come, or a kill before it did, says nothing of what was created.
 */
export class Repeats {
  readonly broken: string[] = []
  /** How often one was asked for again. */
  repeated = 0
  readonly #asked = new Set<string>()
  readonly #elsewhere: Elsewhere
  readonly #where: () => string

  /** `where`: when and after which poll that is, in words. */
  constructor(elsewhere: Elsewhere, where: () => string) {
    this.#elsewhere = elsewhere
    this.#where = where
  }

  /**
   * `polled`: whether the process that asks has seen the account since it asked last, or since it began. Gives what is
   * still to be looked at, where it is no first time; `now` in epoch seconds of world time.
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
