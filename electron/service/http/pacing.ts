import type { Clock } from '#platform/platform.ts'
import { deferred, orAborted, sleep } from '#platform/tasks.ts'

/** Thresholds of section 8 and of deployments' documents: requests a second, by method and path. */
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
  // The newer list of some deployments.
  'GET /api/v1/instances/': 1,
}

/** Seconds of penalty after a 429, as deployments publish them. */
const knownPenalties: Record<string, number> = { 'PUT /api/v0/asks/{id}/': 12 }

/** The longest `Retry-After` that is respected, in seconds: a machine that is to be stopped costs money meanwhile. */
const LONGEST_REST = 60
/** The used part of a threshold; the rest allows for clocks of different speeds. */
const MARGIN = 0.9
/** The slowest plausible pace in requests a second: slower ones in a 429 are ignored. */
const SLOWEST = 1 / 60
/** Milliseconds after the last 429 until its pace is forgotten, so that no mistake slows Berth for ever. */
const TAUGHT_FOR = 10 * 60_000

/** Keeps one key's requests below the service's thresholds, per endpoint and in their order. */
export class Pacer {
  readonly #clock: Clock
  readonly #lanes = new Map<string, Lane>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /**
   * Waits for a turn at this endpoint. Gives the function to call once the answer is there, or will not come. Rejects
   * as soon as `signal` is aborted, also in the queue. `onRest` is called with the seconds of each wait that a 429 has
   * taught.
   */
  async turn(
    endpoint: string,
    signal: AbortSignal | undefined,
    onRest?: (seconds: number) => void,
  ): Promise<() => void> {
    return (await this.#lane(endpoint)?.turn(signal, onRest)) ?? (() => {})
  }

  /**
   * Learns from a 429, for ten minutes. `named` is the threshold in it, `asked` the seconds that it asks to wait.
   *
   * The unit of a threshold is unclear: requests a second by section 8, seconds between two requests by the
   * best-known deployment's documents. So the slower meaning is used: 5.5 is one request in 5.5 s, 0.5 is one in 2 s.
   * Without a usable number, the pace becomes the slower meaning of the published threshold, and at most half of the
   * present one. Gives the seconds until the next request to this endpoint.
   */
  tooFast(endpoint: string, named: number | undefined, wait = 0): number {
    const lane = this.#lane(endpoint) ?? new Lane(this.#clock, 2)
    this.#lanes.set(endpoint, lane)
    const slower = named === undefined ? undefined : Math.min(named, 1 / named)
    const rate = slower !== undefined && slower >= SLOWEST ? slower : undefined
    const rest = Math.max(Math.min(wait, LONGEST_REST), knownPenalties[endpoint] ?? 0)
    const threshold = knownThresholds[endpoint]
    return lane.tooFast(
      rate,
      rest,
      threshold === undefined ? Number.POSITIVE_INFINITY : Math.min(threshold, 1 / threshold),
    )
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
 * One endpoint's leaky bucket. A request counts from its sending, but drains only after its answer: the service
 * counted it at some moment in between, so this bucket is never emptier than the service's own.
 */
class Lane {
  readonly #clock: Clock
  #threshold: number
  /** The end of a wait without requests. */
  #shutUntil = Number.NEGATIVE_INFINITY
  /** The time of the last 429. */
  #taughtAt: number | undefined
  /** The number of calls that wait for their turn. */
  #waiting = 0
  /** The number of requests without an answer yet. */
  #inFlight = 0
  /** Answered requests that still fill the bucket, at the time `#at`. */
  #level = 0
  #at: number
  #last: Promise<void> = Promise.resolve()
  #answered = deferred<void>()

  constructor(clock: Clock, threshold: number) {
    this.#clock = clock
    this.#at = clock.monotonic()
    this.#threshold = threshold
  }

  /** Whether the last 429 was long ago, and no call is waiting or without an answer. */
  get isOutdated(): boolean {
    const idle = this.#waiting === 0 && this.#inFlight === 0
    return idle && this.#taughtAt !== undefined && this.#clock.monotonic() - this.#taughtAt > TAUGHT_FOR
  }

  async turn(signal: AbortSignal | undefined, onRest?: (seconds: number) => void): Promise<() => void> {
    const before = this.#last
    const mine = deferred<void>()
    this.#last = mine.promise
    this.#waiting++
    try {
      await orAborted(before, signal)
      await this.#room(signal, onRest)
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
    return Math.max(0, (this.#shutUntil - this.#clock.monotonic()) / 1000)
  }

  /** Without a `named` threshold, the new one is at most `likely`, and at most half of the old one. */
  tooFast(named: number | undefined, rest: number, likely: number): number {
    this.#drain()
    this.#taughtAt = this.#clock.monotonic()
    this.#threshold = named ?? Math.max(SLOWEST, Math.min(likely, this.#threshold / 2))
    this.#level = Math.max(this.#level, this.#burst)
    this.#shutUntil = Math.max(this.#shutUntil, this.#clock.monotonic() + rest * 1000)
    return Math.max(rest, 1 / this.#rate)
  }

  /** Requests a second. */
  get #rate(): number {
    return this.#threshold * MARGIN
  }

  /** The most requests at once; the service allows `max(1, threshold)`. */
  get #burst(): number {
    return Math.max(1, this.#rate)
  }

  async #room(signal: AbortSignal | undefined, onRest?: (seconds: number) => void): Promise<void> {
    const rest = (seconds: number) => {
      if (this.#taughtAt !== undefined) onRest?.(seconds)
      return sleep(this.#clock, seconds * 1000, signal)
    }
    for (;;) {
      if (this.resting > 0) await rest(this.resting)
      this.#drain()
      const excess = this.#level + this.#inFlight + 1 - this.#burst
      if (excess <= 1e-9) return
      if (this.#inFlight + 1 > this.#burst) await orAborted(this.#answered.promise, signal)
      else await rest(excess / this.#rate)
    }
  }

  #drain(): void {
    const now = this.#clock.monotonic()
    this.#level = Math.max(0, this.#level - ((now - this.#at) / 1000) * this.#rate)
    this.#at = now
  }
}

/** The characters of a 429 in which to search for a threshold. */
const LOOKED_AT = 2000

/**
 * The threshold in a 429's text of any form: the number after that word, else the only number.
 */
export function thresholdIn(answer: string): number | undefined {
  const text = answer.slice(0, LOOKED_AT)
  const named = /threshold\D{0,20}?(\d+(?:\.\d+)?)/i.exec(text)?.[1]
  // A proxy's error page contains its status.
  const numbers = (text.match(/\d+(?:\.\d+)?/g) ?? []).filter(number => number !== '429')
  const found = Number(named ?? (numbers.length === 1 ? numbers[0] : undefined))
  return Number.isFinite(found) && found > 0 ? found : undefined
}
