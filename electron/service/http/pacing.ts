import type { RequestClock } from './clock.ts'
import { abortable, deferred } from './deferred.ts'

/** Section 8: requests a second, by method and path. */
const knownThresholds: Record<string, number> = {
  'PUT /api/v0/instances/bid_price/{id}/': 5.5,
  'PUT /api/v0/machines/{id}/cleanup': 8,
  'POST /api/v0/auth/apikeys/': 2,
  'GET /api/v0/auth/apikeys/': 1,
  'PUT /api/v0/commands/copy_direct/': 3.5,
  'DELETE /api/v0/commands/copy_direct/': 3.5,
}

/** How much of a threshold is used; the rest is for clocks that run at different speeds. */
const MARGIN = 0.9
/** A 429 may teach any number; these bounds keep a nonsensical one from stopping or unleashing an endpoint. */
const SLOWEST = 0.05
const FASTEST = 1000

/** Keeps one key's requests under the service's thresholds, endpoint by endpoint, in the order they were made. */
export class Pacer {
  readonly #clock: RequestClock
  readonly #lanes = new Map<string, Lane>()

  constructor(clock: RequestClock) {
    this.#clock = clock
  }

  /**
   * Waits for this endpoint's turn. Gives the function to call when the answer is there (or will not come).
   * Rejects as soon as `signal` is aborted, in the queue too.
   */
  async turn(endpoint: string, signal: AbortSignal | undefined): Promise<() => void> {
    return (await this.#lane(endpoint)?.turn(signal)) ?? (() => {})
  }

  /**
   * Learns from a 429. `threshold` is the number it named, requests a second; without one the pace is halved.
   * Gives the seconds until this endpoint may be asked again.
   */
  tooFast(endpoint: string, threshold: number | undefined): number {
    const lane = this.#lane(endpoint) ?? new Lane(this.#clock, threshold ?? 2)
    this.#lanes.set(endpoint, lane)
    return lane.tooFast(threshold)
  }

  #lane(endpoint: string): Lane | undefined {
    const threshold = knownThresholds[endpoint]
    if (threshold !== undefined && !this.#lanes.has(endpoint)) {
      this.#lanes.set(endpoint, new Lane(this.#clock, threshold))
    }
    return this.#lanes.get(endpoint)
  }
}

/**
 * One endpoint's bucket. A request counts from when it leaves, but its share drains only once its answer is here:
 * the service saw it at some moment between, so this bucket is never emptier than the service's own.
 */
class Lane {
  readonly #clock: RequestClock
  #threshold: number
  /** Requests that left and have no answer yet. */
  #inFlight = 0
  /** Answered requests that still count, as of `#at`. */
  #level = 0
  #at: number
  #last: Promise<void> = Promise.resolve()
  #answered = deferred<void>()

  constructor(clock: RequestClock, threshold: number) {
    this.#clock = clock
    this.#at = clock.now()
    this.#threshold = bounded(threshold)
  }

  async turn(signal: AbortSignal | undefined): Promise<() => void> {
    const before = this.#last
    const mine = deferred<void>()
    this.#last = mine.promise
    try {
      await abortable(before, signal)
      await this.#room(signal)
      this.#inFlight++
    } finally {
      before.then(mine.resolve)
    }
    let open = true
    return () => {
      if (!open) return
      open = false
      this.#drain()
      this.#inFlight--
      this.#level++
      this.#answered.resolve()
      this.#answered = deferred()
    }
  }

  tooFast(threshold: number | undefined): number {
    this.#drain()
    this.#threshold = bounded(threshold ?? this.#threshold / 2)
    this.#level = Math.max(this.#level, this.#burst)
    return 1 / this.#rate
  }

  /** Requests a second. */
  get #rate(): number {
    return this.#threshold * MARGIN
  }

  /** Requests at once: `max(1, threshold)` at the service. */
  get #burst(): number {
    return Math.max(1, this.#rate)
  }

  async #room(signal: AbortSignal | undefined): Promise<void> {
    for (;;) {
      this.#drain()
      const excess = this.#level + this.#inFlight + 1 - this.#burst
      if (excess <= 1e-9) return
      if (this.#inFlight + 1 > this.#burst) await abortable(this.#answered.promise, signal)
      else await this.#clock.sleep((excess / this.#rate) * 1000, signal)
    }
  }

  #drain(): void {
    const now = this.#clock.now()
    this.#level = Math.max(0, this.#level - ((now - this.#at) / 1000) * this.#rate)
    this.#at = now
  }
}

function bounded(threshold: number): number {
  return Math.min(FASTEST, Math.max(SLOWEST, threshold))
}

/**
 * The threshold that a 429's text names, requests a second: the number after the word, else the only number there.
 */
export function thresholdIn(detail: string): number | undefined {
  const named = /threshold\D{0,20}?(\d+(?:\.\d+)?)/i.exec(detail)?.[1]
  const numbers = detail.match(/\d+(?:\.\d+)?/g) ?? []
  const found = Number(named ?? (numbers.length === 1 ? numbers[0] : undefined))
  return Number.isFinite(found) && found > 0 ? found : undefined
}
