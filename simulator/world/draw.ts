import { createHash } from 'node:crypto'

/**
 * Pseudorandom numbers that follow from the seed and the name of what they decide. Two draws of the same name give the
 * same numbers, so a machine's fate does not depend on the order of requests.
 */
export class Draw {
  #state: number

  constructor(seed: number, ...name: (string | number)[]) {
    this.#state = hash(`${seed}/${name.join('/')}`)
  }

  /** The next number, at least 0 and below 1 (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  between(low: number, high: number): number {
    return low + this.next() * (high - low)
  }

  /** An integer from `low` to `high`, both included. */
  integer(low: number, high: number): number {
    return Math.floor(this.between(low, high + 1))
  }

  chance(share: number): boolean {
    return this.next() < share
  }

  /** Throws RangeError where there is nothing to pick from. */
  pick<const Item>(items: readonly Item[]): Item {
    const item = items[Math.floor(this.next() * items.length)]
    if (item === undefined) throw new RangeError('There is nothing to pick from.')
    return item
  }

  /** Picks an item in proportion to its `weight`. */
  weighted<Item extends { weight: number }>(items: readonly Item[]): Item {
    let left = this.next() * items.reduce((sum, item) => sum + item.weight, 0)
    for (const item of items) {
      left -= item.weight
      if (left < 0) return item
    }
    throw new RangeError('There is nothing to pick from.')
  }
}

/** 64 hexadecimal digits that follow from the seed and the name: API keys, tokens, opaque secrets. */
export function secret(seed: number, ...name: (string | number)[]): string {
  return createHash('sha256')
    .update(`${seed}/${name.join('/')}`)
    .digest('hex')
}

/** FNV-1a with a final mix, so that neighbouring names do not give neighbouring numbers. */
function hash(text: string): number {
  let value = 0x811c9dc5
  for (let index = 0; index < text.length; index++) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193)
  }
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b)
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35)
  return value ^ (value >>> 16)
}
