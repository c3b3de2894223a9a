import type { KeyPermissions } from '#service/api-keys.ts'
import type { ServiceClient } from '#service/client.ts'
import { ServiceError } from '#service/service-error.ts'
import { isOver, type TransferKey } from '#shared/account/transfer.ts'
import { BerthError, type Problem } from '#shared/problem.ts'
import type { AccountContext } from '../account-context.ts'
import { needingPermission } from '../bridge/problems.ts'
import type { DeletionTarget } from '../endings/deletion.ts'
import { isDeepEqual } from '../storage/store.ts'
import { type StoredTransfers, type Transfer, transferEntry } from './transfer.ts'

export type KeyKeeper = ReturnType<typeof createKeyKeeper>

/** Deletes the keys of syncs that have ended, and then forgets dismissed ones. */
export function createKeyKeeper(
  {
    account,
    deletions,
    ending,
    activity,
  }: Pick<AccountContext, 'account' | 'deletions' | 'ending' | 'activity'>,
  transfers: Pick<StoredTransfers, 'find' | 'note' | 'forget'>,
) {
  const busy = new Map<string, Promise<void>>()
  const { find } = transfers
  /** By its name where the answer to its creation was lost. */
  const targetOf = ({ id, key }: Transfer): DeletionTarget =>
    key ? { kind: 'apiKey', id: key.id } : { kind: 'apiKey', name: keyName(id) }
  const hasKey = ({ key, keyAsked }: Transfer) => key?.state === 'in-use' || (keyAsked && !key)

  async function work(transfer: Transfer): Promise<void> {
    const { id } = transfer
    if (hasKey(transfer)) {
      const { isGone, ids } = await deletions.delete(targetOf(transfer))
      const [found] = ids
      const known =
        transfer.key ?? (found === undefined ? undefined : { id: found, name: keyName(id), scoped: true })
      const key: TransferKey | undefined = known && { ...known, state: isGone ? 'deleted' : 'stays' }
      await transfers.note(id, key ? { key, keyAsked: false } : { keyAsked: false })
      if (key && !isGone)
        activity.add(
          transferEntry(
            account,
            'error',
            'The key could not be deleted',
            transfer,
            `Delete the API key “${key.name}” #${key.id} yourself.`,
          ),
        )
    }
    const after = find(id)
    if (after?.dismissed && isOver(after) && after.key?.state !== 'in-use') await transfers.forget(id)
  }

  /** Deletes a transfer's key, and then forgets a dismissed transfer. Resolves once that is over. Never rejects. */
  function deleteUnused(id: string): Promise<void> {
    const transfer = find(id)
    const working = busy.get(id)
    if (working) return working
    if (!transfer || ending.aborted || !(hasKey(transfer) || transfer.dismissed)) return Promise.resolve()
    const started = work(transfer)
      .catch(() => undefined)
      .finally(() => busy.delete(id))
    busy.set(id, started)
    return started
  }

  return {
    deleteUnused,
    /** The same, requested at once; resolves after that request, even if it isn't over. */
    async deleteNow(id: string): Promise<void> {
      const transfer = find(id)
      const deleting = deleteUnused(id)
      if (!transfer || !hasKey(transfer) || (await deletions.deleteNow(targetOf(transfer)))) await deleting
    },
  }
}

/** The call that starts a cloud copy, as permissions name it. */
const syncCall = 'api.commands.rclone'

/** Only the call of one sync: a thief on the host can't read the account, rent, or reach other instances with it. */
function limitedTo(instance: number): KeyPermissions {
  return { api: { instance_write: { [syncCall]: { constraints: { instance_id: { eq: instance } } } } } }
}

/** All calls that change instances, where the service knows nothing narrower. */
const wide: KeyPermissions = { api: { instance_write: {} } }

/** The key's name, for looking it up where the answer to its creation was lost. */
const keyName = (transfer: string) => `Berth sync ${transfer}`

/** Creates a sync's key. The secret is for one request only. `mayBeWide`: the user agrees to one for all instances. */
export async function makeSyncKey(
  client: ServiceClient,
  transfer: string,
  { instance, mayBeWide }: { instance: number; mayBeWide: boolean },
): Promise<{ key: TransferKey; secret: string }> {
  const name = keyName(transfer)
  const create = async (permissions: KeyPermissions) => {
    const made = await needingPermission('user_write', client.apiKeys.create({ name, permissions }))
    const scoped = typeof made.permissions === 'object' && made.permissions !== null
    const limited = isDeepEqual(made.permissions, limitedTo(instance))
    const key: TransferKey = { id: made.id, name, state: 'in-use', scoped, limited }
    return { key, secret: made.key }
  }
  try {
    return await create(limitedTo(instance))
  } catch (error) {
    if (!isRefusal(error)) throw error
    if (!mayBeWide) throw new BerthError(wideKeyNeeded)
  }
  try {
    return await create(wide)
  } catch (error) {
    if (!isRefusal(error)) throw error
    throw new BerthError({
      code: error.code,
      message: 'The service refused to create a key with instance_write for this sync.',
      advice: 'Berth’s own key may lack instance_write itself: use one that has it.',
      facts: error.detail ? { 'The service says': error.detail } : undefined,
    })
  }
}

function isRefusal(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.code === 'invalid_permissions'
}

export const wideKeyNeeded: Problem = {
  code: 'wide_key',
  message:
    'The service can’t limit the copy’s key to the copy: on the machine it could rent, stop and destroy your instances.',
  advice: 'Run it again and allow that key, or copy without the service.',
}
