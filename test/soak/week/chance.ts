/**
 * Random choices from a seed and a name, the same as long as they are made in the same order. Each user has its own
 * generator, so that one more choice in one place does not change those in others.
 */
export class Chance {
  #state: number

  constructor(seed: number, name: string) {
    this.#state = [...name].reduce((sum, letter) => Math.imul(sum ^ letter.charCodeAt(0), 16_777_619), seed)
  }

  /** A number from 0 to below 1, by Mulberry32. */
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

  /** One of the choices; undefined if there are none. */
  oneOf<Choice>(choices: readonly Choice[]): Choice | undefined {
    return choices[this.integer(0, choices.length - 1)]
  }

  /** A choice with a probability by weight. */
  weighted<Choice extends { weight: number }>(choices: readonly [Choice, ...Choice[]]): Choice {
    let left = this.next() * choices.reduce((sum, { weight }) => sum + weight, 0)
    for (const choice of choices) {
      left -= choice.weight
      if (left < 0) return choice
    }
    return choices[0]
  }

  /** An exponentially distributed pause of that mean. */
  pause(mean: number): number {
    return -Math.log(1 - this.next()) * mean
  }
}
