import type { Clock } from '#platform/platform.ts'
import type { AccountTime } from '#shared/state.ts'

/** The `Date` of an answer that has just arrived. */
export interface TimeSample {
  /** Epoch seconds, whole ones. */
  serverTime: number
  /** Milliseconds. */
  roundTrip: number
}

export type AccountClock = ReturnType<typeof createAccountClock>

interface Moment {
  /** Epoch milliseconds. */
  server: number
  /** Monotonic milliseconds. */
  at: number
}

interface Anchor extends Moment {
  /** Epoch milliseconds of this machine. */
  wall: number
}

/** Milliseconds for which answers must tell a time until it is the least that the account's can be. */
const watchedFor = 120_000

/** Milliseconds by which an earlier session's time may be ahead of this computer's: more is a wrong one, or a fast world. */
const mostAhead = 86_400_000

/** What a moment has become, if time went on as on this computer. */
function onwards({ server, at: then }: Moment, at: number): number {
  return server + at - then
}

/** A rate can only be measured over some time, since `Date` has whole seconds. */
const shortestMeasurement = 900

/**
 * The service's time, from the `Date` of its answers, so that a wrong clock on this computer does not matter. The rate
 * is 1, except in a simulated world, whose time runs faster. Two minutes after the first answer it has a least, from which
 * it is never slower than this computer's own: limits act by it, whatever the service says. A new rate is accepted once two measurements agree, so that
 * a single jump of the world's clock does not count as one. Sleep shows in this computer's wall clock alone: without it,
 * a computer that wakes for each poll would measure a fast world. `seenAt`: the account's time when an earlier session
 * ended, epoch seconds: it does not go back to before that, unless that lies ahead of this computer's time.
 */
export function createAccountClock(clock: Clock, initialRate = 1, seenAt?: number) {
  let anchor: Anchor | undefined
  let rate = initialRate
  let measuredFrom: Anchor | undefined
  let candidate: number | undefined
  /** The lowest time that answers have told since `watchedFrom`, and the latest one that they all had reached. */
  let lowest: Moment | undefined
  let watchedFrom = 0
  let least: Moment | undefined
  if (seenAt !== undefined && seenAt * 1000 <= clock.now() + mostAhead)
    least = { server: seenAt * 1000, at: clock.monotonic() }

  const uncertaintyOf = (roundTrip: number) => 1500 + rate * roundTrip
  const leastAt = (at: number) => (least ? onwards(least, at) : Number.NEGATIVE_INFINITY)
  const serverNow = (at: number) =>
    anchor ? Math.max(anchor.server + (at - anchor.at) * rate, leastAt(at)) : clock.now()

  /** The lowest of some time counts, so that a wrong answer or two can't advance it for ever. */
  function holdUp(sample: Moment): void {
    const { at, server } = sample
    if (!lowest) watchedFrom = at
    if (!lowest || server < onwards(lowest, at)) lowest = sample
    if (at - watchedFrom < watchedFor) return
    if (onwards(lowest, at) > leastAt(at)) least = lowest
    lowest = undefined
  }

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
      // A lower one means old answers, or a clock that is wrong.
      const isOne = measured <= 1 + Math.max(uncertainty, 0.25)
      rate = isOne ? 1 : measured
      candidate = undefined
    } else candidate = measured > 0 ? measured : undefined
  }

  return {
    /** Epoch seconds of the account's time; before the first answer, of this computer's. */
    now: (): number => serverNow(clock.monotonic()) / 1000,
    learn({ serverTime, roundTrip }: TimeSample): void {
      const at = clock.monotonic()
      // `Date` is rounded down to whole seconds: half a second more is the best guess.
      const sample = { server: serverTime * 1000 + 500, at, wall: clock.now() }
      measure(sample)
      const error = Math.abs(sample.server - serverNow(at))
      if (!anchor || error > uncertaintyOf(roundTrip)) anchor = sample
      holdUp(sample)
    },
    /** The data from which the page computes the account's time. */
    accountTime: (): AccountTime => {
      const monotonic = clock.monotonic()
      return { serverAt: Math.round(serverNow(monotonic)), localAt: Math.round(clock.now()), rate }
    },
  }
}

/** Whether two clocks of an account differ noticeably: by more than two seconds of its time. */
export function sameTime(a: AccountTime, b: AccountTime): boolean {
  const drift = a.serverAt + (b.localAt - a.localAt) * a.rate - b.serverAt
  return a.rate === b.rate && Math.abs(drift) <= 2000 * Math.max(1, a.rate / 10)
}
