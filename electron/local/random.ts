import { randomBytes } from 'node:crypto'
import type { Random } from '../ports/random.ts'

/** The operating system's randomness. */
export const systemRandom: Random = {
  hex: digits =>
    randomBytes(Math.ceil(digits / 2))
      .toString('hex')
      .slice(0, digits),
  fraction: () => randomBytes(6).readUIntBE(0, 6) / 2 ** 48,
}
