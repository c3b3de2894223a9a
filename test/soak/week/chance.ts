/**
 * Chance that follows from a seed and a name: the same choices as long as they are asked for in the same order. Each
 * who chooses has one of their own, so that one more choice here does not change all of them there.
 */
export class Chance {
  #state: number

  constructor(seed: number, name: string) {
    this.#state = [...name].reduce((sum, letter) => Math.imul(sum ^ letter.charCodeAt(0), 16_777_619), seed)
  }

  /** From 0 up to 1. Mulberry32. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  happens(share: number): boolean {
    return this.next() < share
  }

  between(low: number, high: number): number {
    return low + this.next() * (high - low)
  }

  /** Both ends included. */
  integer(low: number, high: number): number {
    return Math.floor(this.between(low, high + 1))
  }

  pick<Choice>(choices: readonly [Choice, ...Choice[]]): Choice {
    return choices[this.integer(0, choices.length - 1)] ?? choices[0]
  }

  /** One of those that there are; undefined where there are none. */
  oneOf<Choice>(choices: readonly Choice[]): Choice | undefined {
    return choices[this.integer(0, choices.length - 1)]
  }

  /** The more weight, the likelier. */
  weighted<Choice extends { weight: number }>(choices: readonly [Choice, ...Choice[]]): Choice {
    let left = this.next() * choices.reduce((sum, { weight }) => sum + weight, 0)
    for (const choice of choices) {
      left -= choice.weight
      if (left < 0) return choice
    }
    return choices[0]
  }

  /** A pause whose end is as likely at any moment, so long on average. */
  pause(mean: number): number {
    return -Math.log(1 - this.next()) * mean
  }
}
