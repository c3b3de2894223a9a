import type { AccountContext } from '../account-context.ts'
import type { Tried, Tries } from './rental.ts'
import { tryEntry } from './words.ts'

/**
 * Deletes the volumes that dropped attempts made: nothing was stored in them, each is charged, and the next rental makes
 * its own.
 */
export function createLeftVolumes(
  { deletions, activity }: AccountContext,
  tries: Pick<Tries, 'all' | 'update'>,
) {
  const busy = new Set<string>()

  async function clean(tried: Tried): Promise<void> {
    const { mark, offer, rental } = tried
    const { volume } = rental.request
    if (volume?.create && offer.machineId !== undefined) {
      const { name } = volume
      const { isGone, ids } = await deletions.delete({ kind: 'volume', name, machine: offer.machineId })
      const text = `${isGone ? 'Deleted' : 'Berth can’t delete'} the volume ${name}`
      const detail = isGone ? 'Nothing was in it.' : 'Delete it on the service’s website: you pay for it.'
      for (const id of ids) activity.add(tryEntry(`${text} (#${id})`, tried, { detail }))
    }
    await tries.update(mark, { volumeLeft: undefined })
  }

  return {
    /** Call after each poll. */
    onPoll(): void {
      for (const tried of tries.all()) {
        const { mark, volumeLeft } = tried
        if (!volumeLeft || busy.has(mark)) continue
        busy.add(mark)
        // Only Berth's end rejects it: the next start goes on.
        clean(tried).then(
          () => busy.delete(mark),
          () => undefined,
        )
      }
    },
  }
}
