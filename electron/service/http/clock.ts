import { setTimeout as delay } from 'node:timers/promises'

/** Time for pacing and backoff, on a clock that never jumps. */
export interface RequestClock {
  /** Monotonic milliseconds; its zero means nothing. */
  now(): number
  /** Resolves after so many milliseconds, or rejects once `signal` is aborted. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>
}

/** This machine's own monotonic clock and timers. */
export const machineClock: RequestClock = {
  now: () => performance.now(),
  sleep: (milliseconds, signal) => delay(milliseconds, undefined, signal ? { signal } : {}),
}
