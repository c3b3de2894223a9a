import type { Life } from './messages.ts'
import { type LifeEvents, OneLife } from './one-life.ts'

/** Berth, life after life: each goes on from what the one before had on disk. The next is there before it is needed. */
export class Lives {
  readonly #program: string
  readonly #life: Life
  readonly #events: LifeEvents
  #now: OneLife
  #next: OneLife
  #isOver = false

  constructor(program: string, life: Life, events: LifeEvents) {
    this.#program = program
    this.#life = life
    this.#events = events
    this.#now = this.#born()
    this.#next = this.#born()
  }

  /** The one that lives, or lived last. */
  get now(): OneLife {
    return this.#now
  }

  async begin(): Promise<void> {
    await this.#now.begin(this.#life)
  }

  /** Kills it at this very moment; the next begins once `dead` has resolved. */
  async killed(dead: () => Promise<unknown>): Promise<void> {
    await this.#now.kill()
    await dead()
    if (this.#isOver) return
    const next = this.#next
    this.#next = this.#born()
    await next.begin(this.#life)
    this.#now = next
  }

  /** The last one ends as it should, the one that waits is not needed. */
  async close(): Promise<void> {
    this.#isOver = true
    await Promise.all([this.#now.close(), this.#next.kill()])
  }

  async remove(): Promise<void> {
    this.#isOver = true
    await Promise.all([this.#now.kill(), this.#next.kill()])
  }

  #born(): OneLife {
    return new OneLife(this.#program, this.#events)
  }
}
