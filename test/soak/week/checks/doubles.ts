import type { Elsewhere } from '../elsewhere.ts'
import { doubles, wishesOnDisk } from './accounted.ts'

/**
 * Fresh looks that may find two instances of one wish: the first finds them and has one destroyed; where a fault keeps
 * that from happening, the next one does it again.
 */
const mostLooks = 3

/** Two instances for one wish must go as soon as they are seen. Looks at what the service has after Berth has looked. */
export class Doubles {
  readonly broken: string[] = []
  /** The most fresh looks that two instances of a wish have outlived. */
  longest = 0
  readonly #elsewhere: Elsewhere
  readonly #folder: string
  readonly #looks = new Map<string, number>()
  #known = new Set<string>()
  #isSuspicious = false

  constructor(elsewhere: Elsewhere, folder: string) {
    this.#elsewhere = elsewhere
    this.#folder = folder
  }

  /** What Berth sees. Only with a new instance there can be two. */
  seen(instances: Readonly<Record<string, unknown>>): void {
    const ids = Object.keys(instances)
    if (ids.some(id => !this.#known.has(id))) this.#isSuspicious = true
    this.#known = new Set(ids)
  }

  /** After a fresh look, and what followed from it at once. */
  async looked(): Promise<void> {
    if (!this.#isSuspicious) return
    const found = doubles(await this.#elsewhere.instances(), await wishesOnDisk(this.#folder))
    this.#isSuspicious = found.size > 0
    for (const wish of this.#looks.keys()) if (!found.has(wish)) this.#looks.delete(wish)
    for (const [wish, ids] of found) {
      const looks = (this.#looks.get(wish) ?? 0) + 1
      this.#looks.set(wish, looks)
      this.longest = Math.max(this.longest, looks)
      if (looks === mostLooks + 1) this.broken.push(`${wish} has had ${ids.join(' and ')} for ${looks} looks`)
    }
  }
}
