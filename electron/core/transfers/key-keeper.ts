import { isOver, type TransferKey } from '#contract/account/transfer.ts'
import { BerthError, type Problem } from '#contract/problem.ts'
import type { KeyPermissions } from '#service/api-keys.ts'
import type { ServiceClient } from '#service/client.ts'
import { ServiceError } from '#service/service-error.ts'
import type { AccountContext } from '../account-context.ts'
import { needingPermission } from '../app/problems.ts'
import { isDeepEqual } from '../storage/store.ts'
import { type StoredTransfers, type Transfer, transferEntry } from './transfer.ts'

export type KeyKeeper = ReturnType<typeof createKeyKeeper>

/** Seconds between two requests to delete a key. */
const pause = 20

/**
 * Deletes the keys of syncs that have ended. An answer proves nothing: a key counts as deleted once a later list of the
 * account's keys doesn't have it, and until then the deletion is repeated.
 */
export function createKeyKeeper(
  {
    account,
    client,
    ending,
    activity,
    now,
  }: Pick<AccountContext, 'account' | 'client' | 'ending' | 'activity' | 'now'>,
  transfers: Pick<StoredTransfers, 'find' | 'note' | 'forget'>,
) {
  const busy = new Map<string, Promise<void>>()
  /** When the deletion of a transfer's key was last requested. */
  const asked = new Map<string, number>()
  const { find } = transfers

  async function work(id: string): Promise<void> {
    const transfer = find(id)
    if (!transfer) return
    const { key: known, keyAsked } = transfer
    if (known?.state === 'in-use' || keyAsked) {
      const key = await deleteKey(client(), transfer)
      if (key) await transfers.note(id, { key, keyAsked: false })
      else if (key === undefined) await transfers.note(id, { keyAsked: false })
      if (key && key.state === 'stays')
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

  return {
    /**
     * Deletes a transfer's key, and then forgets a dismissed transfer. What failed or isn't seen yet is tried again at a
     * later call; `urgent` calls don't wait for the pause. Never rejects.
     */
    deleteUnused(id: string, urgent = false): Promise<void> {
      const transfer = find(id)
      if (!transfer || ending.aborted) return Promise.resolve()
      const open =
        transfer.key?.state === 'in-use' || (transfer.keyAsked && !transfer.key) || transfer.dismissed
      if (!open) return Promise.resolve()
      const since = now() - (asked.get(id) ?? 0)
      const working = busy.get(id)
      if (working) return working
      if (!urgent && since >= 0 && since < pause) return Promise.resolve()
      asked.set(id, now())
      const started = work(id)
        .catch(() => undefined)
        .finally(() => busy.delete(id))
      busy.set(id, started)
      return started
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

/**
 * Requests the deletion of a transfer's key, and looks for it in the list afterwards, by name where the answer to its
 * creation was lost. Gives the key, deleted or not; undefined if none was made. Throws temporary errors, and where the
 * list still has it.
 */
async function deleteKey(client: ServiceClient, { id, key }: Transfer): Promise<TransferKey | undefined> {
  const known = key ?? (await findSyncKey(client, id))
  if (!known) return undefined
  const refusal = await client.apiKeys.remove(known.id).then(
    () => undefined,
    (error: unknown) => error,
  )
  const cannot = refusal instanceof ServiceError && isFinal(refusal)
  if (refusal !== undefined && !(refusal instanceof ServiceError)) throw refusal
  let isListed: boolean
  try {
    isListed = (await client.apiKeys.list()).some(listed => listed.id === known.id)
  } catch (error) {
    if (error instanceof ServiceError && isFinal(error)) return { ...known, state: 'stays' }
    throw error
  }
  if (!isListed) return { ...known, state: 'deleted' }
  if (cannot) return { ...known, state: 'stays' }
  throw refusal ?? new Error('the key is still listed')
}

/** The key made for a transfer; undefined where there is none, or where keys cannot be listed. Throws temporary errors. */
async function findSyncKey(client: ServiceClient, transfer: string): Promise<TransferKey | undefined> {
  try {
    const found = (await client.apiKeys.list()).find(({ name }) => name === keyName(transfer))
    return found && { id: found.id, name: keyName(transfer), state: 'in-use', scoped: true }
  } catch (error) {
    if (error instanceof ServiceError && isFinal(error)) return undefined
    throw error
  }
}

/** Whether a retry would have the same result: the service has no such call, or Berth's key may not make it. */
function isFinal({ code, status }: ServiceError): boolean {
  return code === 'not_supported' || status === 403
}
