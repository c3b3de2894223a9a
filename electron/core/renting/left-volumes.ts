import type { AccountContext } from '../account-context.ts'
import type { Tried, Tries } from './rental.ts'
import { tryEntry } from './words.ts'

/** Polls after a failed request until the next one, at most. */
const longestPause = 60

/**
 * Deletes the volumes that dropped attempts made: nothing was stored in them, each is charged, and the next rental makes
 * its own. One is over once the service lists it no more.
 */
export function createLeftVolumes(
  { client, ending, activity }: AccountContext,
  tries: Pick<Tries, 'all' | 'update'>,
) {
  let isBusy = false
  let fails = 0
  let pause = 0

  async function clean(left: readonly Tried[]): Promise<void> {
    const { volumes } = client()
    const listed = await volumes.list({ signal: ending })
    for (const tried of left) {
      const { mark, offer, rental } = tried
      const { volume } = rental.request
      const name = volume?.create ? volume.name : undefined
      const own = listed.filter(({ label, machine_id }) => label === name && machine_id === offer.machineId)
      if (own.length === 0) await tries.update(mark, { volumeLeft: undefined })
      for (const { id } of own) {
        await volumes.remove(id, { signal: ending })
        activity.add(tryEntry(`Deleted the volume ${name} (#${id})`, tried, { detail: 'Nothing was in it.' }))
      }
    }
  }

  return {
    /** Call after each poll. */
    onPoll(): void {
      const left = tries.all().filter(({ volumeLeft }) => volumeLeft)
      if (isBusy || left.length === 0 || pause-- > 0) return
      isBusy = true
      clean(left)
        .then(
          () => {
            fails = 0
          },
          () => {
            // The service refuses while the machine that is being destroyed still has it.
            pause = Math.min(longestPause, 2 ** fails)
            fails = Math.min(fails + 1, 10)
          },
        )
        .finally(() => {
          isBusy = false
        })
    },
  }
}
