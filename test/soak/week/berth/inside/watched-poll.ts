import { pollAll as poll } from '../../../../../electron/core/instances/polling/poll-all.ts'

/** Who is told of the polls of this process. */
export const pollEvents = {
  polling: (): void => undefined,
  polled: (_credit: boolean): void => undefined,
}

/**
 * Berth's own poll, of whose beginning and good end is told. The program has it in the place of that one. An answer that
 * is doubted, and asked for once more, is no poll of its own, nor is one in which an instance may be missing: nothing is
 * decided on what it does not tell.
 */
export async function pollAll(...args: Parameters<typeof poll>): ReturnType<typeof poll> {
  pollEvents.polling()
  const found = await poll(...args)
  if (found.outcome === 'seen' && found.listing?.unconfirmed.length === 0)
    pollEvents.polled(found.user !== undefined)
  return found
}
