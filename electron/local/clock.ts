import type { Clock } from '../ports/clock.ts'

/** The longest timeout of Node in milliseconds; a longer one would fire at once. */
const longestTimer = 2 ** 31 - 1

/** The clock of this machine. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(milliseconds, callback) {
    const timer = setTimeout(callback, Math.min(Math.max(0, milliseconds), longestTimer))
    return () => clearTimeout(timer)
  },
}
