import { randomBytes } from 'node:crypto'
import type { Clock, Random } from './platform.ts'

/** The longest timeout of Node in milliseconds; a longer one would fire at once. */
const longestTimer = 2 ** 31 - 1

/** The clock of this machine, which nobody changes for all others. */
export const systemClock: Clock = Object.freeze({
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(milliseconds, callback) {
    const timer = setTimeout(callback, Math.min(Math.max(0, milliseconds), longestTimer))
    return () => clearTimeout(timer)
  },
} satisfies Clock)

/** The operating system's randomness. */
export const systemRandom: Random = {
  hex: digits =>
    randomBytes(Math.ceil(digits / 2))
      .toString('hex')
      .slice(0, digits),
  fraction: () => randomBytes(6).readUIntBE(0, 6) / 2 ** 48,
}
