import type { Life } from './messages.ts'
import { type LifeEvents, OneLife } from './one-life.ts'

/** Successive processes of Berth, each on the disk of the one before. The next is started ahead of its use. */
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

  /** The current or last process. */
  get now(): OneLife {
    return this.#now
  }

  get count(): number {
    return this.#count
  }

  /** Begins the next life at `now`, in epoch milliseconds; the one before must be dead. */
  begin(now: number): void {
    this.#count += 1
    this.#now = this.#next
    this.#now.begin({ ...this.#life, number: this.#count, now })
    this.#next = this.#born()
  }

  /** Kills all processes. */
  async remove(): Promise<void> {
    await Promise.all([this.#now.kill(), this.#next.kill()])
  }

  #born(): OneLife {
    return new OneLife(this.#program, this.#events)
  }
}
