import { systemClock } from '#machine/clock-and-random.ts'
import type { Clock } from '#machine/machine.ts'

/** Berth's seconds per second of this machine, since tests mostly wait for the next poll or retry. */
export const haste = 4

/**
 * This machine's clock, sped up by `haste` from now on. The world has a `speed` of its own. `sleeps` advances the wall
 * clock alone.
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
