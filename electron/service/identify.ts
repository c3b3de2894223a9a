import type { User } from './account.ts'
import type { ServiceClient } from './client.ts'
import type { CallOptions } from './http/operation.ts'
import { sentenceFor } from './http/sentences.ts'
import { ServiceError } from './service-error.ts'

/**
 * Asks who the key belongs to, and thereby whether this is the service at all.
 * @throws ServiceError `not_this_service` when something else answers; any other code as it comes
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
      ...sentenceFor('not_this_service'),
    })
  }
}

/**
 * The same, but undefined for a key that may not read the user: one that the service takes for two-factor calls alone,
 * since a login must come first (section 5.7), or one that may read instances and no more.
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

/** Another shape of answer, or no such path: this service has had both since its first version. */
function isForeign(error: ServiceError): boolean {
  return ['bad_answer', 'too_large', 'not_found', 'not_supported', 'refused'].includes(error.code)
}
