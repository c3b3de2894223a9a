import type { AccountContext } from '../account-context.ts'
import { type Next, Worker } from '../engine/worker.ts'
import { tryEntry } from './messages.ts'
import type { Attempts } from './rental.ts'

/**
 * Deletes the volumes that dropped attempts made: nothing was stored in them, each is charged, and the next rental makes
 * its own.
 */
export class LeftVolumes {
  readonly #context: AccountContext
  readonly #attempts: Attempts
  readonly #worker: Worker<string>

  constructor(context: AccountContext, attempts: Attempts) {
    const { platform, quitting } = context
    this.#context = context
    this.#attempts = attempts
    this.#worker = new Worker({ clock: platform.clock, quitting, turn: mark => this.#turn(mark) })
  }

  onPoll(): void {
    for (const { mark, volumeLeft } of this.#attempts.all()) if (volumeLeft) this.#worker.wake(mark)
  }

  async #turn(mark: string): Promise<Next> {
    const { deletions, activity } = this.#context
    const attempt = this.#attempts.find(mark)
    if (!attempt?.volumeLeft) return 'rest'
    const { offer, rental } = attempt
    const { volume } = rental.request
    if (volume?.create && offer.machineId !== undefined) {
      const { name } = volume
      const { isGone, ids } = await deletions.delete({ kind: 'volume', name, machine: offer.machineId })
      const text = `${isGone ? 'Deleted' : 'Berth can’t delete'} the volume ${name}`
      const detail = isGone ? 'Nothing was in it.' : 'Delete it on the service’s website: you pay for it.'
      for (const id of ids) activity.add(tryEntry(`${text} (#${id})`, attempt, { detail }))
    }
    await this.#attempts.update(mark, { volumeLeft: undefined })
    return 'rest'
  }
}
