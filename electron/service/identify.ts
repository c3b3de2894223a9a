import type { User } from './account.ts'
import type { ServiceClient } from './client.ts'
import { errorSentence } from './http/error-messages.ts'
import type { CallOptions } from './http/operation.ts'
import { ServiceError } from './service-error.ts'

/**
 * Reads the key's user, which also shows whether this is the service at all. @throws ServiceError `not_this_service`
 * if something else answers; other codes unchanged
 */
export async function identify(client: ServiceClient, options?: CallOptions): Promise<User> {
  try {
    return await client.account.currentUser(options)
  } catch (error) {
    if (!(error instanceof ServiceError) || !isForeign(error)) throw error
    const { status, detail, path } = error
    throw new ServiceError({
      code: 'not_this_service',
      status,
      detail,
      path,
      ...errorSentence('not_this_service'),
    })
  }
}

/**
 * The same, but undefined for a valid key that may not read the user: it works only for two-factor calls before a
 * login (section 5.7), or may only read instances.
 */
export async function identifyOrLogin(
  client: ServiceClient,
  options?: CallOptions,
): Promise<User | undefined> {
  try {
    return await identify(client, options)
  } catch (error) {
    if (!(error instanceof ServiceError && error.keyRefused)) throw error
    const taken = [() => client.twoFactor.status(options), () => client.instances.list(options)]
    for (const ask of taken) {
      const isTaken = await ask().then(
        () => true,
        () => false,
      )
      if (isTaken) return undefined
    }
    throw error
  }
}

/** Whether the answer has another shape, or the path is missing: every version of the service has both. */
function isForeign(error: ServiceError): boolean {
  return ['bad_answer', 'too_large', 'not_found', 'not_supported', 'refused'].includes(error.code)
}
