import type { Clock } from '#machine/machine.ts'

/** Seconds before a failed visit is repeated; the last value repeats. */
const pauses = [5, 15, 60, 300]

/** Visits to instances, one at a time for each; repeated when due, and after a pause where one failed. */
export class VisitQueue {
  readonly #clock: Clock
  readonly #ending: AbortSignal
  readonly #visit: (instance: number) => Promise<number | undefined>
  readonly #waiting = new Map<number, () => void>()
  readonly #underWay = new Map<number, Promise<void>>()
  readonly #fails = new Map<number, number>()

  /** `visit` returns the seconds until the next one; undefined if there is none. */
  constructor(clock: Clock, ending: AbortSignal, visit: (instance: number) => Promise<number | undefined>) {
    this.#clock = clock
    this.#ending = ending
    this.#visit = visit
  }

  /** Whether a visit is scheduled or running. */
  has(instance: number): boolean {
    return this.#waiting.has(instance) || this.#underWay.has(instance)
  }

  /** Schedules the next visit in that many seconds. */
  in(instance: number, seconds: number): void {
    this.#cancel(instance)
    if (this.#ending.aborted) return
    const cancel = this.#clock.after(seconds * 1000, () => {
      this.#waiting.delete(instance)
      this.now(instance).catch(() => undefined)
    })
    this.#waiting.set(instance, cancel)
  }

  /** Visits after the running one; rejects with the reason of a failure, which is retried nevertheless. */
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

  /** No more visits until another one is requested. */
  rest(instance: number): void {
    this.#cancel(instance)
    this.#underWay.delete(instance)
  }

  /** Calls off the next visit and forgets the failures before it. */
  forget(instance: number): void {
    this.#cancel(instance)
    this.#fails.delete(instance)
  }

  /** Cancels scheduled visits; resolves once running ones are over. Never rejects. */
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
