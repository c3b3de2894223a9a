import type { Seen } from '../berth/messages.ts'
import type { Elsewhere } from '../elsewhere.ts'

/** Checks after each certain poll that Berth shows every existing instance it has shown before. */
export class BelievedGone {
  readonly broken: string[] = []
  readonly #elsewhere: Elsewhere
  readonly #where: () => string
  readonly #shown = new Set<number>()
  #now: Seen['instances'] = {}

  /** `where`: describes the current time and poll. */
  constructor(elsewhere: Elsewhere, where: () => string) {
    this.#elsewhere = elsewhere
    this.#where = where
  }

  seen({ instances }: Seen): void {
    this.#now = instances
    for (const id of Object.keys(instances)) this.#shown.add(Number(id))
  }

  polled(): void {
    for (const { id } of this.#elsewhere.instances()) {
      if (id in this.#now || !this.#shown.has(id)) continue
      this.#shown.delete(id)
      this.broken.push(`${this.#where()}: #${id} is there, and Berth shows it no more`)
    }
  }
}
