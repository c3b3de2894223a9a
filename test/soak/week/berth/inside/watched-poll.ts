import { pollAll as poll } from '../../../../../electron/core/instances/polling/poll-all.ts'

/** Listeners for the polls of this process. */
export const pollEvents = {
  polling: (): void => undefined,
  polled: (_credit: boolean): void => undefined,
}

/**
 * Berth's poll, which it replaces in the built program, with reports of its start and its success. An uncertain answer
 * that is requested again does not count, nor does one that may lack an instance, since Berth concludes nothing from
 * what it lacks.
 */
export async function pollAll(...args: Parameters<typeof poll>): ReturnType<typeof poll> {
  pollEvents.polling()
  const found = await poll(...args)
  if (found.outcome === 'seen' && found.listing?.unconfirmed.length === 0)
    pollEvents.polled(found.user !== undefined)
  return found
}
