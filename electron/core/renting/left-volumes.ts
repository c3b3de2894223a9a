import type { AccountContext } from '../account-context.ts'
import { tryEntry } from './messages.ts'
import type { Attempts, RentalAttempt } from './rental.ts'

/**
 * Deletes the volumes that dropped attempts made: nothing was stored in them, each is charged, and the next rental makes
 * its own.
 */
export function createLeftVolumes(
  { deletions, activity }: AccountContext,
  attempts: Pick<Attempts, 'all' | 'update'>,
) {
  const busy = new Set<string>()

  async function clean(attempt: RentalAttempt): Promise<void> {
    const { mark, offer, rental } = attempt
    const { volume } = rental.request
    if (volume?.create && offer.machineId !== undefined) {
      const { name } = volume
      const { isGone, ids } = await deletions.delete({ kind: 'volume', name, machine: offer.machineId })
      const text = `${isGone ? 'Deleted' : 'Berth can’t delete'} the volume ${name}`
      const detail = isGone ? 'Nothing was in it.' : 'Delete it on the service’s website: you pay for it.'
      for (const id of ids) activity.add(tryEntry(`${text} (#${id})`, attempt, { detail }))
    }
    await attempts.update(mark, { volumeLeft: undefined })
  }

  return {
    /** Call after each poll. */
    onPoll(): void {
      for (const attempt of attempts.all()) {
        const { mark, volumeLeft } = attempt
        if (!volumeLeft || busy.has(mark)) continue
        busy.add(mark)
        // Only Berth's end rejects it: the next start goes on.
        clean(attempt).then(
          () => busy.delete(mark),
          () => undefined,
        )
      }
    },
  }
}
