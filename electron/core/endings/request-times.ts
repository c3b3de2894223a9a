import type { Clock } from '#platform/platform.ts'
import type { Ending } from './record.ts'

/** When this Berth's requests for endings were answered, and since when it makes them. */
export class RequestTimes {
  readonly #clock: Pick<Clock, 'monotonic'>
  /** Monotonic milliseconds; infinite while a request is to be sent or under way. */
  readonly #answeredAt = new Map<number, number>()
  /** When this Berth began with the ending of that time, monotonic milliseconds. */
  readonly #begun = new Map<number, { since: number; at: number }>()

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock
  }

  /** A request is to be sent. */
  expect(instance: number): void {
    this.#answeredAt.set(instance, Number.POSITIVE_INFINITY)
  }

  answered(instance: number): void {
    this.#answeredAt.set(instance, this.#clock.monotonic())
  }

  forget(instance: number): void {
    this.#answeredAt.delete(instance)
  }

  /** Whether a request is to be sent or under way. */
  isExpected(instance: number): boolean {
    return this.#answeredAt.get(instance) === Number.POSITIVE_INFINITY
  }

  /** Whether none has been answered since it was expected. */
  isFirst(instance: number): boolean {
    return this.isExpected(instance) || !this.#answeredAt.has(instance)
  }

  /** Whether a poll that began then shows the last one's effect. After a restart every poll is later than it. */
  isShownBy(instance: number, begunAt: number): boolean {
    return begunAt >= (this.#answeredAt.get(instance) ?? Number.NEGATIVE_INFINITY)
  }

  /** Milliseconds since this Berth began with an ending. */
  lasted({ instance, since }: Ending): number {
    const now = this.#clock.monotonic()
    const begun = this.#begun.get(instance)
    const at = begun?.since === since ? begun.at : now
    this.#begun.set(instance, { since, at })
    return now - at
  }
}
