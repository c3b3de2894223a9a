import type { Clock } from '#platform/platform.ts'
import type { FailedPoll } from './poll-account.ts'

export type Poller = ReturnType<typeof createPoller>

export interface PollerOptions {
  clock: Clock
  /**
   * One poll, with its own timeouts. Rejects where the service did not answer, with `BadlyAnswered` or `KeyRefused`
   * where it did.
   */
  poll: () => Promise<void>
  /** Milliseconds until the next poll, after a successful one that took so many. */
  interval: (took: number) => number
  /** Whether automatic polls are suspended; a requested poll resumes them afterwards. */
  isSuspended?: () => boolean
  /** Called after a failed poll with the milliseconds until the next one. */
  onPause?: (milliseconds: number) => void
  /** A random number from 0 to 1, for the jitter. */
  random: () => number
}

/** The rejection of a poll that got a bad answer, which usually passes soon. */
export class BadlyAnswered extends Error {
  override readonly name = 'BadlyAnswered'
}

/** The rejection of a poll whose key was refused, which may pass, too, but is retried ever more rarely. */
export class KeyRefused extends Error {
  override readonly name = 'KeyRefused'
}

/** The rejection of a failed poll. A rate limit does not shorten the pause. */
export function pollFailure({ problem: { code }, status }: FailedPoll): Error {
  return status !== undefined && code !== 'rate_limited' ? new BadlyAnswered(code) : new Error(code)
}

/** The longest pause after failures, in milliseconds. */
const longestPause = 120_000
/** The longest pause after bad answers, in milliseconds. */
const longestPauseAnswered = 30_000

/** Milliseconds until the next poll after so many failures in a row: doubling, with a quarter of jitter either way. */
export function pollPauseAfter(
  { failures, answered = false }: { failures: number; answered?: boolean },
  interval: number,
  random: number,
): number {
  if (failures === 0) return interval
  const longest = Math.max(answered ? longestPauseAnswered : longestPause, interval)
  return Math.min(longest, interval * 2 ** Math.min(failures, 16)) * (0.75 + random * 0.5)
}

/** Polls repeatedly, one poll at a time; a poll requested during another follows at once. */
export function createPoller({ clock, poll, interval, isSuspended, onPause, random }: PollerOptions) {
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
    if (paused || stopped || following) return
    const pause = untilNext(clock.monotonic() - began)
    if (failures > 0) onPause?.(pause)
    cancelNext = clock.after(pause, () => void (isSuspended?.() || begin()))
  }

  function untilNext(took: number): number {
    if (refusals > 0) return pauseAfterRefusal(refusals, random())
    return pollPauseAfter({ failures, answered }, interval(failures === 0 ? took : 0), random())
  }

  function begin(): Promise<void> {
    running = run()
    return running
  }

  return {
    /** Polls now, and resolves when a poll that began after this call has ended, successfully or not. */
    poll(): Promise<void> {
      if (stopped) return Promise.resolve()
      // Checked first, since no poll runs between the end of one and the next.
      if (following) return following
      if (!running) return begin()
      following = running.then(() => {
        following = undefined
        return stopped ? undefined : begin()
      })
      return following
    },
    /** No more polls until `resume`. */
    pause(): void {
      paused = true
      cancelNext?.()
    },
    resume(): void {
      if (!paused) return
      paused = false
      if (!running) void begin()
    },
    stop(): void {
      stopped = true
      cancelNext?.()
    },
  }
}

/** Milliseconds: a proxy's hiccup passes in seconds, a key that was revoked must cost next to nothing. */
const first = 3_000
const longest = 300_000

/**
 * Milliseconds until a refused request is retried, after so many refusals in a row: doubling, with a quarter of jitter
 * either way. `random`: 0 to 1.
 */
export function pauseAfterRefusal(refusals: number, random: number): number {
  return Math.min(longest, first * 2 ** Math.min(refusals - 1, 16)) * (0.75 + random * 0.5)
}
