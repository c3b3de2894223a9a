import { systemClock } from '../../../electron/local/clock.ts'
import type { Clock } from '../../../electron/ports/clock.ts'

/** How many of Berth's seconds pass in one of this machine: most of a test waits for its next poll, or next try. */
export const haste = 4

/**
 * This machine's clock, from now on in such haste. The world goes on at a `speed` of its own. Seconds that it `sleeps`
 * pass by its wall clock alone.
 */
export function hurriedClock(): Clock & { sleeps(seconds: number): void } {
  const begun = systemClock.now()
  let slept = 0
  return {
    now: () => begun + slept + (systemClock.now() - begun) * haste,
    sleeps(seconds) {
      slept += seconds * 1000
    },
    monotonic: () => systemClock.monotonic() * haste,
    after: (milliseconds, callback) => systemClock.after(milliseconds / haste, callback),
  }
}
