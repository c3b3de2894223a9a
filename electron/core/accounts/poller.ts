import type { Clock } from '../../ports/clock.ts'

/** Looks again and again. One look at a time; a look asked for during another follows it at once. */
export interface Poller {
  /** Looks now, and resolves when a look that began after this call has ended, well or not. */
  look(): Promise<void>
  /** No more looks until `resume`. */
  pause(): void
  resume(): void
  stop(): void
}

export interface PollerOptions {
  clock: Clock
  /** One look; rejects when the service could not be asked. Its time limits are its own. */
  poll: () => Promise<void>
  /** Milliseconds between looks that went well. */
  interval: () => number
  /** Whether looks that come by themselves are left out; after that, one that is asked for begins them again. */
  held?: () => boolean
  /** 0 to 1, for the jitter. */
  random: () => number
}

/** Milliseconds: however often it failed, Berth looks again after this. */
const longestPause = 120_000

/** Milliseconds until the next look after so many failures in a row: doubling, with a quarter of jitter either way. */
export function pauseAfter(failures: number, interval: number, random: number): number {
  if (failures === 0) return interval
  const backoff = Math.min(Math.max(longestPause, interval), interval * 2 ** Math.min(failures, 16))
  return backoff * (0.75 + random * 0.5)
}

export function createPoller({ clock, poll, interval, held, random }: PollerOptions): Poller {
  let failures = 0
  let cancelNext: (() => void) | undefined
  let running: Promise<void> | undefined
  let following: Promise<void> | undefined
  let paused = false
  let stopped = false

  async function run(): Promise<void> {
    cancelNext?.()
    try {
      await poll()
      failures = 0
    } catch {
      failures += 1
    }
    running = undefined
    if (!paused && !stopped && !following)
      cancelNext = clock.after(pauseAfter(failures, interval(), random()), () => void (held?.() || begin()))
  }

  function begin(): Promise<void> {
    running = run()
    return running
  }

  return {
    look() {
      if (stopped) return Promise.resolve()
      // Asked first: between the end of a look and the one that follows it, none is running.
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
