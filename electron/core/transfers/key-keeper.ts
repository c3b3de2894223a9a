import { isOver, type TransferKey } from '#contract/account/transfer.ts'
import type { AccountContext } from '../account-context.ts'
import type { Transfer } from './model.ts'
import type { StoredTransfers } from './stored-transfers.ts'
import { deleteSyncKey, findSyncKey, keyName } from './sync-key.ts'
import { transferEntry } from './words.ts'

/** Deletes the keys of syncs that have ended. */
export interface KeyKeeper {
  /**
   * Deletes a transfer's key, and then forgets a dismissed transfer. Temporary failures are retried at the next call.
   * Never rejects.
   */
  deleteUnused(id: string): Promise<void>
}

export function createKeyKeeper(
  { account, client, ending, activity }: Pick<AccountContext, 'account' | 'client' | 'ending' | 'activity'>,
  transfers: Pick<StoredTransfers, 'find' | 'note' | 'forget'>,
): KeyKeeper {
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
    deleteUnused(id) {
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
