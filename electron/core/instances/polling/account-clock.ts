import type { AccountTime } from '../../../contract/state.ts'
import type { Clock } from '../../../ports/clock.ts'

/** The `Date` of an answer that has just come. */
export interface TimeSample {
  /** Epoch seconds, whole ones. */
  serverTime: number
  /** Milliseconds. */
  roundTrip: number
}

/**
 * What time it is on the service, from the `Date` of its answers. A wrong clock on this machine changes nothing.
 * The rate is 1 but in a simulated world, whose time runs faster; a new rate is believed once two measurements agree,
 * so that a single jump of the world's clock is taken for what it is. A computer that sleeps tells of that by its wall
 * clock alone: one that wakes for each poll would measure a fast world otherwise.
 */
export interface AccountClock {
  /** Epoch seconds of the account's time. Before the first answer: this machine's own. */
  now(): number
  learn(sample: TimeSample): void
  /** Seconds by which `now` may be wrong: `Date` has whole ones, and an answer takes its time. */
  uncertainty(): number
  /** How the page works out the account's time by itself. */
  told(): AccountTime
}

interface Anchor {
  /** Epoch milliseconds. */
  server: number
  /** Monotonic milliseconds. */
  at: number
  /** Epoch milliseconds of this machine. */
  wall: number
}

/** Rates can be told apart only over some time, since `Date` has whole seconds. */
const shortestMeasurement = 900

export function createAccountClock(clock: Clock, initialRate = 1): AccountClock {
  let anchor: Anchor | undefined
  let rate = initialRate
  let measuredFrom: Anchor | undefined
  let candidate: number | undefined
  let lastRoundTrip = 0

  const uncertaintyOf = (roundTrip: number) => 1500 + rate * roundTrip
  const serverNow = (at: number) => (anchor ? anchor.server + (at - anchor.at) * rate : clock.now())

  function measure(sample: Anchor): void {
    if (!measuredFrom) {
      measuredFrom = sample
      return
    }
    const elapsed = Math.max(sample.at - measuredFrom.at, sample.wall - measuredFrom.wall)
    if (elapsed < shortestMeasurement) return
    const measured = (sample.server - measuredFrom.server) / elapsed
    const uncertainty = 1500 / elapsed
    measuredFrom = sample
    if (Math.abs(measured - rate) <= Math.max(uncertainty, rate * 0.15)) candidate = undefined
    else if (
      candidate !== undefined &&
      Math.abs(measured - candidate) <= Math.max(uncertainty, candidate * 0.15)
    ) {
      // Time that seems to stand still does not: the answers were old, or too little has passed to tell.
      const isOne = measured <= uncertainty || Math.abs(measured - 1) <= Math.max(uncertainty, 0.25)
      rate = isOne ? 1 : measured
      candidate = undefined
    } else candidate = measured > 0 ? measured : undefined
  }

  return {
    now: () => serverNow(clock.monotonic()) / 1000,
    learn({ serverTime, roundTrip }) {
      const at = clock.monotonic()
      // `Date` is cut to whole seconds: half a second more is the best guess.
      const sample = { server: serverTime * 1000 + 500, at, wall: clock.now() }
      lastRoundTrip = roundTrip
      measure(sample)
      const error = Math.abs(sample.server - serverNow(at))
      if (!anchor || error > uncertaintyOf(roundTrip)) anchor = sample
    },
    uncertainty: () => uncertaintyOf(lastRoundTrip) / 1000,
    told: () => {
      const monotonic = clock.monotonic()
      return { serverAt: Math.round(serverNow(monotonic)), localAt: Math.round(clock.now()), rate }
    },
  }
}

/** Whether two answers about the account’s time differ by more than people or decisions notice (two seconds of it). */
export function sameTime(a: AccountTime, b: AccountTime): boolean {
  const drift = a.serverAt + (b.localAt - a.localAt) * a.rate - b.serverAt
  return a.rate === b.rate && Math.abs(drift) <= 2000 * Math.max(1, a.rate / 10)
}
