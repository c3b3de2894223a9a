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

/** Milliseconds by which the account's time and this computer's may differ and agree: beyond, one is wrong, or the world is a fast one. */
const mostApart = 600_000

/** Milliseconds by which an answer may differ and is believed at once, beyond what rounding and its way explain. */
const believedAtOnce = 5000
/** Milliseconds by which a simulated world leaps ahead where its day is played. */
const playedAtOnce = 6 * 3_600_000
/** Milliseconds by which clocks may have drifted apart in a sleep. */
const driftInSleep = 60_000

/** How many of the times before leaps are remembered, with the present one. */
const mostFormers = 9

/** Milliseconds by which the service's time must differ from the one that is believed, to be told. */
const noticed = 60_000

/** What a moment has become, if time went on as on this computer. */
function onwards({ server, at: then }: Moment, at: number): number {
  return server + at - then
}

/** A rate can only be measured over some time, since `Date` has whole seconds. */
const shortestMeasurement = 900

/**
 * The service's time, from the `Date` of its answers, so that a wrong clock on this computer does not matter. Between
 * them time passes as on this computer: a leap ahead for which the account was charged is believed once the answer to
 * a question asked anew agrees with it and none in between with the time before; any other after two minutes of that,
 * but never where this computer's clock agrees with the time before; and at once where this computer slept as long.
 * One back once answers have gone on from it for two minutes, or where it ends a leap ahead. The rate is 1, except in
 * a simulated world, whose time runs faster. A new rate is accepted once two measurements agree. Two minutes after
 * the first answer, or with it where this computer's clock agrees, it has a least, from which it is never slower than
 * this computer's own: limits act by it, whatever the service says. Sleep shows in this computer's wall clock alone:
 * without it, a computer that wakes for each poll would measure a fast world. `seenAt`: the account's time when an
 * earlier session ended, epoch seconds: it does not go back to before that, unless that lies ahead of this computer's
 * time.
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
  let last: Anchor | undefined
  /** The first of the last answers that differ from the believed time and agree with each other, and whether it is paid. */
  let doubted: (Moment & { isPaid: boolean }) | undefined
  /** Counts the questions to the service of one or more requests, and the one whose answer was doubted. */
  let round = 0
  let doubtedIn = 0
  let hasStrayed = false
  /** Milliseconds by which the last answer told another time than the believed one. */
  let strayed = 0
  /** What it was before each leap ahead that was believed, to which it may go back at once, while its least is earlier. */
  let formers: Moment[] = []
  /** The first of the last answers that are behind the believed time, each as much: none stood still, or was slow. */
  let behindSince: Moment | undefined
  /** Whether the first time was confirmed: by this computer's own, or by later answers. */
  let isSure = false
  if (seenAt !== undefined && seenAt * 1000 <= clock.now() + mostApart)
    least = { server: seenAt * 1000, at: clock.monotonic() }

  const uncertaintyOf = (roundTrip: number) => 1500 + rate * roundTrip
  /** Where time runs faster, its rate is only known roughly. */
  const toleranceOf = (roundTrip: number, elapsed: number) =>
    uncertaintyOf(roundTrip) + believedAtOnce * rate + (rate === 1 ? 0 : 0.2 * rate * elapsed)
  const agrees = (sample: Moment, { server, at }: Moment, roundTrip: number) =>
    Math.abs(server + (sample.at - at) * rate - sample.server) <= toleranceOf(roundTrip, sample.at - at)
  const leastAt = (at: number) => (least ? onwards(least, at) : Number.NEGATIVE_INFINITY)
  const serverNow = (at: number) =>
    anchor ? Math.max(anchor.server + (at - anchor.at) * rate, leastAt(at)) : clock.now()

  /** Whether this computer's clock agrees with the believed time, and not with another one. */
  const isContradicted = (server: number, at: number, wall: number) =>
    Math.abs(serverNow(at) - wall) <= mostApart && Math.abs(server - wall) > mostApart
  const raiseLeast = (moment: Moment) => {
    if (moment.server > leastAt(moment.at)) least = moment
  }

  /** The lowest of some time counts, so that a wrong answer or two can't advance it for ever. */
  function holdUp(sample: Moment): void {
    const { at, server } = sample
    if (!lowest) watchedFrom = at
    if (!lowest || server < onwards(lowest, at)) lowest = sample
    if (at - watchedFrom < watchedFor) return
    raiseLeast(lowest)
    formers = formers.filter(former => leastAt(at) <= onwards(former, at))
    lowest = undefined
  }

  /** Whether the account's time becomes that of an answer; until it is sure, of the one nearest to this computer's. */
  function isBelieved(sample: Anchor, roundTrip: number): boolean {
    const { at, wall, server } = sample
    const fromWall = (one: Moment) => Math.abs(onwards(one, at) - wall)
    if (!anchor || (!isSure && fromWall(sample) < fromWall(anchor))) {
      isSure = fromWall(sample) <= mostApart
      if (isSure) raiseLeast({ server: Math.min(server, wall), at })
      return true
    }
    const expected = { server: serverNow(at), at }
    const isPlayed = rate !== 1 && server > expected.server && server - expected.server <= playedAtOnce
    if (agrees(sample, expected, roundTrip) || isPlayed) {
      isSure = true
      // What came in between tells no rate either; but an answer to the question whether it leapt is no news of that.
      if (hasStrayed && at - anchor.at >= shortestMeasurement)
        [hasStrayed, candidate, measuredFrom] = [false, undefined, sample]
      doubted = behindSince = undefined
      const isBehind = rate === 1 && server < expected.server
      return !isBehind && Math.abs(server - expected.server) > uncertaintyOf(roundTrip)
    }
    const slept = last ? wall - last.wall - (at - last.at) : 0
    const awoken = expected.server + slept * rate
    if (slept > driftInSleep && Math.abs(awoken - server) <= driftInSleep + slept / 20) return true
    hasStrayed = true
    // The least holds already.
    if (server < expected.server && expected.server === leastAt(at)) return false
    const isReturn = formers.some(former => agrees(sample, former, roundTrip))
    if (server < expected.server && !isReturn) return isBehindForLong(sample, roundTrip)
    if (!doubted || !agrees(sample, doubted, roundTrip)) {
      doubted = { ...sample, isPaid: false }
      doubtedIn = round
      return false
    }
    // The requests of one poll may meet the same wrong clock, while others meet the right one.
    if (round === doubtedIn) return false
    const isLongSaid = at - doubted.at >= watchedFor && !isContradicted(server, at, wall)
    if (!doubted.isPaid && !isLongSaid) return false
    isSure = true
    if (server > expected.server) formers = [...formers.slice(-mostFormers), expected]
    return true
  }

  /**
   * Whether answers have told an earlier time for two minutes of it in which it went on at its rate: the believed one was
   * wrong. A clock that stands still or is slow, or a cache, tells of none.
   */
  function isBehindForLong(sample: Anchor, roundTrip: number): boolean {
    const isSteady =
      behindSince &&
      (rate === 1
        ? Math.abs(onwards(behindSince, sample.at) - sample.server) <= uncertaintyOf(roundTrip)
        : agrees(sample, behindSince, roundTrip))
    if (!behindSince || !isSteady) behindSince = sample
    return sample.at - behindSince.at >= watchedFor / rate
  }

  /** Whether a new rate was accepted. */
  function measure(sample: Anchor): boolean {
    const before = rate
    remeasure(sample)
    return rate !== before
  }

  function remeasure(sample: Anchor): void {
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
    /** A poll's requests begin, or are asked anew: they may confirm what those before them told. */
    askedAnew(): void {
      round += 1
    },
    learn({ serverTime, roundTrip }: TimeSample): void {
      const at = clock.monotonic()
      // `Date` is rounded down to whole seconds: half a second more is the best guess.
      const sample = { server: serverTime * 1000 + 500, at, wall: clock.now() }
      const isRight = isBelieved(sample, roundTrip)
      if (measure(sample) || isRight) {
        anchor = sample
        doubted = behindSince = undefined
      }
      last = sample
      // One ahead that isn't believed holds nothing up.
      holdUp({ at, server: Math.min(sample.server, serverNow(at)) })
      strayed = rate === 1 ? sample.server - serverNow(at) : 0
    },
    /** Seconds by which the last answer told another time, which the answer to a later question must confirm. */
    doubtedBy: (): number | undefined =>
      doubted && (onwards(doubted, clock.monotonic()) - serverNow(clock.monotonic())) / 1000,
    /** The doubted time was charged for: once one more answer agrees, it is believed. */
    isPaid(): void {
      if (doubted) doubted.isPaid = true
    },
    /** The data from which the page computes the account's time. */
    accountTime: (): AccountTime => {
      const monotonic = clock.monotonic()
      const time = { serverAt: Math.round(serverNow(monotonic)), localAt: Math.round(clock.now()), rate }
      return Math.abs(strayed) > noticed ? { ...time, strays: Math.round(strayed / 1000) } : time
    },
  }
}

/** Whether two clocks of an account differ noticeably: by more than two seconds of its time. */
export function sameTime(a: AccountTime, b: AccountTime): boolean {
  const drift = a.serverAt + (b.localAt - a.localAt) * a.rate - b.serverAt
  const strays = Math.abs((a.strays ?? 0) - (b.strays ?? 0)) * 1000
  return a.rate === b.rate && strays < noticed && Math.abs(drift) <= 2000 * Math.max(1, a.rate / 10)
}
