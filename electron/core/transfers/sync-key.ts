import type { TransferKey } from '#contract/account/transfer.ts'
import { BerthError } from '#contract/problem.ts'
import type { ServiceClient } from '#service/client.ts'
import { ServiceError } from '#service/service-error.ts'
import { needingPermission } from '../app/permission.ts'

/**
 * The permissions of a sync's key. A sync only needs calls of `instance_write`, so without `instance_read` and
 * `user_read` a thief on the host cannot read the account. There is no narrower category.
 */
const permissions = { api: { instance_write: {} } }

/** The key's name, for looking it up where the answer to its creation was lost. */
export const keyName = (transfer: string) => `Berth sync ${transfer}`

/** Creates a sync's key. The secret is for one request only. */
export async function makeSyncKey(
  client: ServiceClient,
  transfer: string,
): Promise<{ key: TransferKey; secret: string }> {
  const name = keyName(transfer)
  try {
    const made = await needingPermission('user_write', client.apiKeys.create({ name, permissions }))
    const scoped = typeof made.permissions === 'object' && made.permissions !== null
    return { key: { id: made.id, name, state: 'in-use', scoped }, secret: made.key }
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'invalid_permissions') throw error
    throw new BerthError({
      code: error.code,
      message: 'The service refused to create a key with instance_write for this sync.',
      advice: 'Berth’s own key may lack instance_write itself: use one that has it.',
      facts: error.detail ? { 'The service says': error.detail } : undefined,
    })
  }
}

/** Whether it is gone; false where the service does not support or refuses the deletion. Throws temporary errors. */
export async function deleteSyncKey(client: ServiceClient, id: number): Promise<boolean> {
  try {
    await client.apiKeys.remove(id)
    return true
  } catch (error) {
    if (!(error instanceof ServiceError && isFinal(error))) throw error
    return error.status === 404 && error.code !== 'not_supported'
  }
}

/**
 * The id of the key made for a transfer; undefined where there is none, or where keys cannot be listed. Throws
 * temporary errors.
 */
export async function findSyncKey(client: ServiceClient, transfer: string): Promise<number | undefined> {
  try {
    const keys = await client.apiKeys.list()
    return keys.find(({ name }) => name === keyName(transfer))?.id
  } catch (error) {
    if (error instanceof ServiceError && isFinal(error)) return undefined
    throw error
  }
}

/** Whether a retry would have the same result. */
function isFinal({ code, status }: ServiceError): boolean {
  return code === 'not_supported' || status === 401 || status === 403 || status === 404
}
