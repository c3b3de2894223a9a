import { deferred } from '../../ports/deferred.ts'
import type { RequestClock } from './clock.ts'

// interface 8: Rate threshold 5.5: PUT bid_price
// interface 8: Rate threshold 8: PUT machine cleanup
// interface 8: Rate threshold 2.0: POST create API key
// interface 8: Rate threshold 1.0: GET list API keys
// interface 8: Rate threshold 3.5: PUT and DELETE copy_direct
/** Section 8, and what deployments publish: requests a second, by method and path. */
const knownThresholds: Record<string, number> = {
  'GET /api/v0/charges/': 1,
  'GET /api/v1/invoices/': 1 / 3,
  'GET /api/v0/volumes/': 1 / 5.5,
  'DELETE /api/v0/volumes/': 1 / 5.5,
  'PUT /api/v0/instances/bid_price/{id}/': 5.5,
  'PUT /api/v0/machines/{id}/cleanup': 8,
  'POST /api/v0/auth/apikeys/': 2,
  'GET /api/v0/auth/apikeys/': 1,
  'PUT /api/v0/commands/copy_direct/': 3.5,
  'DELETE /api/v0/commands/copy_direct/': 3.5,
  // Of the newer list, which some deployments have.
  'GET /api/v1/instances/': 1,
}

/** Seconds that an endpoint stays shut after a 429, where deployments publish such a penalty. */
const knownPenalties: Record<string, number> = { 'PUT /api/v0/asks/{id}/': 12 }

/** Seconds for which a service's own `Retry-After` is believed, at the most. */
const LONGEST_REST = 600
/** How much of a threshold is used; the rest is for clocks that run at different speeds. */
const MARGIN = 0.9
/** Requests a second: one a minute is the slowest pace, and a 429 that names a slower one is nonsense. */
const SLOWEST = 1 / 60
/** Milliseconds without another 429 after which what it taught is forgotten, so that no mistake slows Berth for ever. */
const TAUGHT_FOR = 10 * 60_000

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
   * Learns from a 429, for ten minutes. `named` is the threshold in it, `asked` the seconds that it asks to wait.
   *
   * What a threshold means is not said in the interface: requests a second by its section 8, and the seconds between two
   * requests by what the best-known deployment publishes. So the slower of the two is kept: of 5.5 one in 5.5 s, of 0.5
   * one in 2 s. Without a usable number the
   * pace becomes the slower reading of the published threshold, and at most half of what it was.
   * Gives the seconds until this endpoint may be asked again.
   */
  tooFast(endpoint: string, named: number | undefined, asked = 0): number {
    const lane = this.#lane(endpoint) ?? new Lane(this.#clock, 2)
    this.#lanes.set(endpoint, lane)
    const slower = named === undefined ? undefined : Math.min(named, 1 / named)
    const rate = slower !== undefined && slower >= SLOWEST ? slower : undefined
    const rest = Math.max(Math.min(asked, LONGEST_REST), knownPenalties[endpoint] ?? 0)
    const known = knownThresholds[endpoint]
    return lane.tooFast(
      rate,
      rest,
      known === undefined ? Number.POSITIVE_INFINITY : Math.min(known, 1 / known),
    )
  }

  /** Seconds for which this endpoint is not to be asked, since a 429 said so; 0 where it may be. */
  resting(endpoint: string): number {
    return this.#lanes.get(endpoint)?.resting ?? 0
  }

  #lane(endpoint: string): Lane | undefined {
    if (this.#lanes.get(endpoint)?.isOutdated) this.#lanes.delete(endpoint)
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
  /** Until when nothing is asked. */
  #shutUntil = Number.NEGATIVE_INFINITY
  /** When a 429 last taught it something. */
  #taughtAt: number | undefined
  /** Calls that wait for their turn. */
  #waiting = 0
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
    this.#threshold = threshold
  }

  /** Whether what a 429 taught is so long ago that it is forgotten. Not while anybody waits by it. */
  get isOutdated(): boolean {
    const idle = this.#waiting === 0 && this.#inFlight === 0
    return idle && this.#taughtAt !== undefined && this.#clock.now() - this.#taughtAt > TAUGHT_FOR
  }

  async turn(signal: AbortSignal | undefined): Promise<() => void> {
    const before = this.#last
    const mine = deferred<void>()
    this.#last = mine.promise
    this.#waiting++
    try {
      await abortable(before, signal)
      await this.#room(signal)
      this.#inFlight++
    } finally {
      this.#waiting--
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

  get resting(): number {
    return Math.max(0, (this.#shutUntil - this.#clock.now()) / 1000)
  }

  /** Where the 429 `named` no threshold, the new one is at most `likely`, and at most half of the old one. */
  tooFast(named: number | undefined, rest: number, likely: number): number {
    this.#drain()
    this.#taughtAt = this.#clock.now()
    this.#threshold = named ?? Math.max(SLOWEST, Math.min(likely, this.#threshold / 2))
    this.#level = Math.max(this.#level, this.#burst)
    this.#shutUntil = Math.max(this.#shutUntil, this.#clock.now() + rest * 1000)
    return Math.max(rest, 1 / this.#rate)
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
      if (this.resting > 0) await this.#clock.sleep(this.resting * 1000, signal)
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

/** Characters of a 429 in which a threshold is looked for. */
const LOOKED_AT = 2000

/**
 * The threshold that a 429's text names, whatever form it has: the number after the word, else the only number there.
 */
export function thresholdIn(answer: string): number | undefined {
  const text = answer.slice(0, LOOKED_AT)
  const named = /threshold\D{0,20}?(\d+(?:\.\d+)?)/i.exec(text)?.[1]
  // A page that a proxy wrote names its own status.
  const numbers = (text.match(/\d+(?:\.\d+)?/g) ?? []).filter(number => number !== '429')
  const found = Number(named ?? (numbers.length === 1 ? numbers[0] : undefined))
  return Number.isFinite(found) && found > 0 ? found : undefined
}

/** `promise`, or a rejection with the signal's reason as soon as it is aborted. */
async function abortable(promise: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (!signal) return promise
  signal.throwIfAborted()
  const aborted = deferred<never>()
  const abort = () => aborted.reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  try {
    await Promise.race([promise, aborted.promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
