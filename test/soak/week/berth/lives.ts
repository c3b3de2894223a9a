import type { Life } from './messages.ts'
import { type LifeEvents, OneLife } from './one-life.ts'

/** Berth, life after life: each goes on from what the one before had on disk. The next is there before it is needed. */
export class Lives {
  readonly #program: string
  readonly #life: Omit<Life, 'number' | 'now'>
  readonly #events: LifeEvents
  #count = 0
  #now: OneLife
  #next: OneLife

  constructor(program: string, life: Omit<Life, 'number' | 'now'>, events: LifeEvents) {
    this.#program = program
    this.#life = life
    this.#events = events
    this.#now = this.#born()
    this.#next = this.#now
  }

  /** The one that lives, or lived last. */
  get now(): OneLife {
    return this.#now
  }

  get count(): number {
    return this.#count
  }

  /** The next one begins, at a time in epoch milliseconds; the one before must be dead. */
  begin(now: number): void {
    this.#count += 1
    this.#now = this.#next
    this.#now.begin({ ...this.#life, number: this.#count, now })
    this.#next = this.#born()
  }

  /** All of them are gone. */
  async remove(): Promise<void> {
    await Promise.all([this.#now.kill(), this.#next.kill()])
  }

  #born(): OneLife {
    return new OneLife(this.#program, this.#events)
  }
}
