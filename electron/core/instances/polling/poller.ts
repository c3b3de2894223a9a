import type { Clock } from '../../../ports/clock.ts'
import type { FailedPoll } from './poll.ts'
import { pauseAfterRefusal } from './recheck.ts'

/** Polls again and again. One poll at a time; a poll asked for during another follows it at once. */
export interface Poller {
  /** Polls now, and resolves when a poll that began after this call has ended, well or not. */
  poll(): Promise<void>
  /** No more polls until `resume`. */
  pause(): void
  resume(): void
  stop(): void
}

export interface PollerOptions {
  clock: Clock
  /**
   * One poll; rejects when the service could not be asked, with `BadlyAnswered` or `KeyRefused` when it was. Its time
   * limits are its own.
   */
  poll: () => Promise<void>
  /** Milliseconds until the poll that follows one which went well and took so many. */
  interval: (took: number) => number
  /** Whether polls that come by themselves are left out; after that, one that is asked for begins them again. */
  held?: () => boolean
  /** 0 to 1, for the jitter. */
  random: () => number
}

/** What a poll rejects with when the service did answer, only not well: such a one is mostly well again soon. */
export class BadlyAnswered extends Error {
  override readonly name = 'BadlyAnswered'
}

/** The same when it refused the key: that may pass, too, but is asked about ever more rarely. */
export class KeyRefused extends Error {
  override readonly name = 'KeyRefused'
}

/** What a poll that failed rejects with. A service that says that it is asked too often is not asked the sooner for it. */
export function pollFailure({ problem: { code }, status }: FailedPoll): Error {
  return status !== undefined && code !== 'rate_limited' ? new BadlyAnswered(code) : new Error(code)
}

/** Milliseconds: however often it failed, Berth polls again after this. */
const longestPause = 120_000
/** The same where the service answers, only not well. */
const longestPauseAnswered = 30_000

/** Milliseconds until the next poll after so many failures in a row: doubling, with a quarter of jitter either way. */
export function pauseAfter(
  { failures, answered = false }: { failures: number; answered?: boolean },
  interval: number,
  random: number,
): number {
  if (failures === 0) return interval
  const longest = Math.max(answered ? longestPauseAnswered : longestPause, interval)
  return Math.min(longest, interval * 2 ** Math.min(failures, 16)) * (0.75 + random * 0.5)
}

export function createPoller({ clock, poll, interval, held, random }: PollerOptions): Poller {
  let failures = 0
  let answered = false
  let refusals = 0
  let cancelNext: (() => void) | undefined
  let running: Promise<void> | undefined
  let following: Promise<void> | undefined
  let paused = false
  let stopped = false

  async function run(): Promise<void> {
    cancelNext?.()
    const began = clock.monotonic()
    try {
      await poll()
      failures = 0
      refusals = 0
    } catch (error) {
      failures += 1
      answered = error instanceof BadlyAnswered
      refusals = error instanceof KeyRefused ? refusals + 1 : 0
    }
    running = undefined
    if (!paused && !stopped && !following)
      cancelNext = clock.after(untilNext(clock.monotonic() - began), () => void (held?.() || begin()))
  }

  function untilNext(took: number): number {
    if (refusals > 0) return pauseAfterRefusal(refusals, random())
    return pauseAfter({ failures, answered }, interval(failures === 0 ? took : 0), random())
  }

  function begin(): Promise<void> {
    running = run()
    return running
  }

  return {
    poll() {
      if (stopped) return Promise.resolve()
      // Asked first: between the end of a poll and the one that follows it, none is running.
      if (following) return following
      if (!running) return begin()
      following = running.then(() => {
        following = undefined
        return stopped ? undefined : begin()
      })
      return following
    },
    pause() {
      paused = true
      cancelNext?.()
    },
    resume() {
      if (!paused) return
      paused = false
      if (!running) void begin()
    },
    stop() {
      stopped = true
      cancelNext?.()
    },
  }
}
