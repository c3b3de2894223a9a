import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from '../../ports/clock.ts'
import { deferred } from '../../ports/deferred.ts'

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

/** The same by the clock that everything else goes by. */
export function requestClock(clock: Clock): RequestClock {
  return {
    now: () => clock.monotonic(),
    async sleep(milliseconds, signal) {
      signal?.throwIfAborted()
      const over = deferred<void>()
      const abort = () => over.reject(signal?.reason)
      const cancel = clock.after(milliseconds, over.resolve)
      signal?.addEventListener('abort', abort, { once: true })
      try {
        await over.promise
      } finally {
        cancel()
        signal?.removeEventListener('abort', abort)
      }
    },
  }
}
