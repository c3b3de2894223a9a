import { isOver, type TransferKey } from '#contract/account/transfer.ts'
import { BerthError } from '#contract/problem.ts'
import type { ServiceClient } from '#service/client.ts'
import { ServiceError } from '#service/service-error.ts'
import type { AccountContext } from '../account-context.ts'
import { needingPermission } from '../app/problems.ts'
import { type StoredTransfers, type Transfer, transferEntry } from './transfer.ts'

export type KeyKeeper = ReturnType<typeof createKeyKeeper>

/** Deletes the keys of syncs that have ended. */
export function createKeyKeeper(
  { account, client, ending, activity }: Pick<AccountContext, 'account' | 'client' | 'ending' | 'activity'>,
  transfers: Pick<StoredTransfers, 'find' | 'note' | 'forget'>,
) {
  const busy = new Map<string, Promise<void>>()
  const { find } = transfers

  /** The key to delete, looked up by name where the answer to its creation was lost. */
  async function keyOf(transfer: Transfer): Promise<TransferKey | undefined> {
    const { id, key, keyAsked } = transfer
    if (key || !keyAsked) return key?.state === 'in-use' ? key : undefined
    const found = await findSyncKey(client(), id)
    return found === undefined ? undefined : { id: found, name: keyName(id), state: 'in-use', scoped: true }
  }

  async function work(id: string): Promise<void> {
    const transfer = find(id)
    if (!transfer) return
    const key = await keyOf(transfer)
    if (key) {
      const deleted = await deleteSyncKey(client(), key.id)
      await transfers.note(id, { key: { ...key, state: deleted ? 'deleted' : 'stays' }, keyAsked: false })
      if (!deleted)
        activity.add(
          transferEntry(
            account,
            'error',
            'The key could not be deleted',
            transfer,
            `Delete the API key “${key.name}” #${key.id} yourself.`,
          ),
        )
    } else if (transfer.keyAsked) await transfers.note(id, { keyAsked: false })
    const after = find(id)
    if (after?.dismissed && isOver(after)) await transfers.forget(id)
  }

  return {
    /**
     * Deletes a transfer's key, and then forgets a dismissed transfer. Temporary failures are retried at the next call.
     * Never rejects.
     */
    deleteUnused(id: string): Promise<void> {
      const transfer = find(id)
      if (!transfer || ending.aborted) return Promise.resolve()
      const open =
        transfer.key?.state === 'in-use' || (transfer.keyAsked && !transfer.key) || transfer.dismissed
      if (!open) return Promise.resolve()
      const working =
        busy.get(id) ??
        work(id)
          .catch(() => undefined)
          .finally(() => busy.delete(id))
      busy.set(id, working)
      return working
    },
  }
}

/**
 * The permissions of a sync's key. A sync only needs calls of `instance_write`, so without `instance_read` and
 * `user_read` a thief on the host cannot read the account. There is no narrower category.
 */
const permissions = { api: { instance_write: {} } }

/** The key's name, for looking it up where the answer to its creation was lost. */
const keyName = (transfer: string) => `Berth sync ${transfer}`

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
async function deleteSyncKey(client: ServiceClient, id: number): Promise<boolean> {
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
async function findSyncKey(client: ServiceClient, transfer: string): Promise<number | undefined> {
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
