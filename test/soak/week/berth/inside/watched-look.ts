import { lookForAll as look } from '../../../../../electron/core/instances/polling/poll-all.ts'

/** Who is told of the looks of this process. */
export const lookout = {
  looking: (): void => undefined,
  looked: (_credit: boolean): void => undefined,
}

/**
 * Berth's own look, of whose beginning and good end is told. The program has it in the place of that one. An answer that
 * is doubted, and asked for once more, is no look of its own, nor is one in which an instance may be missing: nothing is
 * decided on what it does not tell.
 */
export async function lookForAll(...args: Parameters<typeof look>): ReturnType<typeof look> {
  lookout.looking()
  const found = await look(...args)
  if (found.outcome === 'seen' && found.listing?.unconfirmed.length === 0)
    lookout.looked(found.user !== undefined)
  return found
}
