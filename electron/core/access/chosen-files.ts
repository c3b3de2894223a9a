import { BerthError } from '#contract/problem.ts'
import type { Random } from '#machine/machine.ts'

/** The number of choices that are kept, since the page may open any number of dialogs. */
const most = 20

/** The user's choices in dialogs of the main process, by random ids. */
export class Choices<Chosen> {
  readonly #kept = new Map<string, Chosen>()
  readonly #random: Random

  constructor(random: Random) {
    this.#random = random
  }

  keep(chosen: Chosen): string {
    const id = `c${this.#random.hex(32)}`
    this.#kept.set(id, chosen)
    for (const oldest of [...this.#kept.keys()].slice(0, Math.max(0, this.#kept.size - most)))
      this.#kept.delete(oldest)
    return id
  }

  /** Throws `no_such_choice`. */
  get(id: string): Chosen {
    const chosen = this.#kept.get(id)
    if (chosen === undefined)
      throw new BerthError({
        code: 'no_such_choice',
        message: 'This selection has expired.',
        advice: 'Choose again.',
      })
    return chosen
  }

  forget(id: string): void {
    this.#kept.delete(id)
  }
}
