import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from '#machine/machine.ts'
import { deferred } from '#machine/tasks.ts'

/** A clock for pacing and backoff. */
export interface RequestClock {
  /** Monotonic milliseconds from an arbitrary zero. */
  now(): number
  /** Resolves after these milliseconds, or rejects once `signal` is aborted. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>
}

/** This machine's own monotonic clock and timers. */
export const machineClock: RequestClock = {
  now: () => performance.now(),
  sleep: (milliseconds, signal) => delay(milliseconds, undefined, signal ? { signal } : {}),
}

/** A request clock over Berth's clock port. */
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
