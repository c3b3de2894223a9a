import type { FaultTime } from '../../../../simulator/http/faults.ts'
import type { Agenda } from './agenda.ts'

/** The requests whose answers the service delays, in world time. */
export class Held implements FaultTime {
  readonly #agenda: Agenda
  readonly #now: () => number
  #count = 0

  /** `now`: epoch milliseconds of world time. */
  constructor(agenda: Agenda, now: () => number) {
    this.#agenda = agenda
    this.#now = now
  }

  get count(): number {
    return this.#count
  }

  async late(milliseconds: number, gone: Promise<unknown>): Promise<void> {
    this.#count += 1
    let cancel: () => void = () => undefined
    const time = new Promise<void>(resolve => {
      cancel = this.#agenda.add(this.#now() + milliseconds, resolve)
    })
    await Promise.race([time, gone])
    cancel()
    this.#count -= 1
  }

  async hang(gone: Promise<unknown>): Promise<void> {
    this.#count += 1
    await gone
    this.#count -= 1
  }
}
