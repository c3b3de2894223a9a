import type { Clock } from '../../../ports/clock.ts'

/** Seconds until a visit that failed is tried again; the last one stays. */
const pauses = [5, 15, 60, 300]

/** Visits to instances: one after the other to each, again when it is time, and after a pause where one has failed. */
export class VisitQueue {
  readonly #clock: Clock
  readonly #ending: AbortSignal
  readonly #visit: (instance: number) => Promise<number | undefined>
  readonly #waiting = new Map<number, () => void>()
  readonly #underWay = new Map<number, Promise<void>>()
  readonly #fails = new Map<number, number>()

  /** `visit` gives the seconds until the next one; undefined if none is to come by itself. */
  constructor(clock: Clock, ending: AbortSignal, visit: (instance: number) => Promise<number | undefined>) {
    this.#clock = clock
    this.#ending = ending
    this.#visit = visit
  }

  /** Whether one waits for its time, or is under way. */
  has(instance: number): boolean {
    return this.#waiting.has(instance) || this.#underWay.has(instance)
  }

  /** The next one so many seconds from now. */
  in(instance: number, seconds: number): void {
    this.#cancel(instance)
    if (this.#ending.aborted) return
    const cancel = this.#clock.after(seconds * 1000, () => {
      this.#waiting.delete(instance)
      this.now(instance).catch(() => undefined)
    })
    this.#waiting.set(instance, cancel)
  }

  /** One after those under way; rejects with why it failed, and is repeated by itself all the same. */
  now(instance: number): Promise<void> {
    const before = this.#underWay.get(instance) ?? Promise.resolve()
    const mine = before
      .catch(() => undefined)
      .then(() => this.#visitOnce(instance))
      .finally(() => {
        if (this.#underWay.get(instance) === mine) this.#underWay.delete(instance)
      })
    this.#underWay.set(instance, mine)
    return mine
  }

  /** None comes by itself, until another one is asked for. */
  rest(instance: number): void {
    this.#cancel(instance)
    this.#underWay.delete(instance)
  }

  /** Calls off the next visit and forgets the failures before it. */
  forget(instance: number): void {
    this.#cancel(instance)
    this.#fails.delete(instance)
  }

  /** Ends those that wait; resolves once those under way are over. Never rejects. */
  async end(): Promise<void> {
    for (const instance of this.#waiting.keys()) this.#cancel(instance)
    await Promise.allSettled(this.#underWay.values())
  }

  async #visitOnce(instance: number): Promise<void> {
    try {
      const next = await this.#visit(instance)
      if (next === undefined) return
      this.#fails.delete(instance)
      this.in(instance, next)
    } catch (error) {
      if (this.#ending.aborted) return
      const failed = this.#fails.get(instance) ?? 0
      this.#fails.set(instance, failed + 1)
      this.in(instance, pauses[Math.min(failed, pauses.length - 1)] ?? 300)
      throw error
    }
  }

  #cancel(instance: number): void {
    this.#waiting.get(instance)?.()
    this.#waiting.delete(instance)
  }
}
