import type { InstanceState } from '#contract/instance/instance.ts'
import { hasTrait } from '#contract/instance/state-traits.ts'
import { BerthError } from '#contract/problem.ts'
import type { ServiceClient } from '#service/client.ts'
import { ServiceError } from '#service/service-error.ts'
import type { AccountContext } from './account-context.ts'

/** Stops or destroys an instance. Returns false if it no longer exists. */
export async function endInstance(
  { instances }: Pick<ServiceClient, 'instances'>,
  instance: number,
  action: 'stop' | 'destroy',
  signal?: AbortSignal,
): Promise<boolean> {
  try {
    await instances[action](instance, { signal })
    return true
  } catch (error) {
    if (error instanceof ServiceError && error.status === 404) return false
    throw error
  }
}

/**
 * Polls, then stops or destroys an instance unless that is done already. Rejects where it failed and should be retried.
 * `asks` is called right before the request; if it returns false, nothing is sent and the result is false.
 */
export async function endAsSeen(
  context: Pick<AccountContext, 'account' | 'store' | 'poll' | 'client' | 'ending'>,
  instance: number,
  action: 'stop' | 'destroy',
  asks: () => boolean,
): Promise<boolean> {
  await context.poll()
  const view = context.store.get().accounts[context.account]
  if (view?.connection.status !== 'online') throw new BerthError(notSeen)
  if (isEnded(view.instances[instance]?.state, action)) return true
  if (!asks()) return false
  await endInstance(context.client(), instance, action, context.ending)
  await context.poll()
  return true
}

function isEnded(state: InstanceState | undefined, action: 'stop' | 'destroy'): boolean {
  return state === undefined || (action === 'stop' && hasTrait(state, 'halted'))
}

const notSeen = {
  code: 'not_seen',
  message: 'The service isn’t answering, and Berth acts only on fresh data.',
  advice: 'Berth tries again.',
}
