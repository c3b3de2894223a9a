import type { Rental } from '../../../../../../electron/core/renting/rentals/model.ts'
import type { Instance } from '../../../../../../electron/service/instances.ts'

type Step = Rental['step']

/** Looks in a row without it after which it counts as gone. */
const enough = 2

/**
 * What may be shown of a rental once it is known which instance is its own. Mostly one step; several where a poll came
 * in the middle of something else, so that it may have counted or not.
 */
export class PlainRental {
  #may = new Set<Step>(['waiting'])
  readonly #ever = new Set<Step>(['waiting'])
  /** How many polls in a row were without it: at the least, at the most. */
  #absent: [number, number] = [0, 0]

  may(step: Step): boolean {
    return this.#may.has(step)
  }

  toString(): string {
    return [...this.#may].join(' or ')
  }

  /** What is shown is that from here on. */
  is(step: Step): void {
    this.#may = new Set([step])
    this.#ever.add(step)
  }

  /** It was cancelled, which may take until the service has answered. */
  cancelled(): void {
    this.#may.add('cancelled')
    this.#ever.add('cancelled')
  }

  /** Berth was killed: what it was shown as last may not have been on disk. */
  restarted(): void {
    this.#may = new Set(this.#ever)
    this.#absent = [0, 0]
  }

  /** A fresh answer. `certain`: nothing else was going on that it could have come in the middle of. */
  onPoll(record: Instance | undefined, waits: number, deadline: number, certain: boolean): void {
    const [least, most] = this.#absent
    this.#absent = record ? [0, 0] : [certain ? least + 1 : least, most + 1]
    const after = new Set<Step>(certain ? [] : this.#may)
    for (const step of this.#may) {
      if (step !== 'waiting' && step !== 'late') after.add(step)
      else if (record) after.add(stepOf(record, waits >= deadline))
      else {
        if (this.#absent[0] < enough) after.add(step)
        if (this.#absent[1] >= enough) after.add('failed')
      }
    }
    this.#may = after
    for (const step of after) this.#ever.add(step)
  }
}

function stepOf({ actual_status, intended_status }: Instance, late: boolean): Step {
  switch (actual_status) {
    case 'running':
      return intended_status === 'stopped' ? (late ? 'late' : 'waiting') : 'running'
    case 'exited':
    case 'offline':
    case 'unknown':
    case 'stopped':
      return 'failed'
    default:
      return late ? 'late' : 'waiting'
  }
}
