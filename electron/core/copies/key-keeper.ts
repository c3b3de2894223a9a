import type { KeyPermissions } from '#service/api-keys.ts'
import type { ServiceClient } from '#service/client.ts'
import { ServiceError } from '#service/service-error.ts'
import { isOver, type TransferKey } from '#shared/account/transfer.ts'
import { BerthError } from '#shared/problem.ts'
import type { AccountContext } from '../account-context.ts'
import { needingPermission } from '../bridge/problems.ts'
import type { DeletionTarget } from '../endings/deletion.ts'
import { type Next, Worker } from '../engine/worker.ts'
import { isDeepEqual } from '../storage/store.ts'
import { transferEntry, wideKeyNeeded } from './messages.ts'
import type { StoredTransfers, Transfer } from './record.ts'

type KeyContext = Pick<AccountContext, 'account' | 'deletions' | 'quitting' | 'activity' | 'platform'>

/** Deletes the keys of syncs that have ended, and then forgets dismissed ones. */
export class KeyKeeper {
  readonly #context: KeyContext
  readonly #transfers: Pick<StoredTransfers, 'find' | 'note' | 'forget'>
  readonly #worker: Worker<string>

  constructor(context: KeyContext, transfers: Pick<StoredTransfers, 'find' | 'note' | 'forget'>) {
    const { platform, quitting } = context
    this.#context = context
    this.#transfers = transfers
    this.#worker = new Worker({
      clock: platform.clock,
      quitting,
      turn: id => this.#turn(id),
      // The next poll tries again.
      hindered: () => 'rest',
    })
  }

  /** Deletes a transfer's key, and then forgets a dismissed transfer. Resolves once that is over. Never rejects. */
  async deleteUnused(id: string): Promise<void> {
    if (!this.#worker.isBusy(id)) this.#worker.wake(id)
    await this.#worker.settled(id)
  }

  /** The same, requested at once; resolves after that request, even if it isn't over. */
  async deleteNow(id: string): Promise<void> {
    const transfer = this.#transfers.find(id)
    const deleting = this.deleteUnused(id)
    const isOver = !transfer || !hasKey(transfer) || this.#context.deletions.deleteNow(targetOf(transfer))
    if (await isOver) await deleting
  }

  async #turn(id: string): Promise<Next> {
    const { account, activity, deletions } = this.#context
    const transfer = this.#transfers.find(id)
    if (transfer && hasKey(transfer)) {
      const { isGone, ids } = await deletions.delete(targetOf(transfer))
      const [found] = ids
      const known =
        transfer.key ?? (found === undefined ? undefined : { id: found, name: keyName(id), scoped: true })
      const key: TransferKey | undefined = known && { ...known, state: isGone ? 'deleted' : 'stays' }
      await this.#transfers.note(id, key ? { key, keyAsked: false } : { keyAsked: false })
      if (key && !isGone) {
        const detail = `Delete the API key “${key.name}” #${key.id} yourself.`
        activity.add(transferEntry(account, 'error', 'The key could not be deleted', transfer, detail))
      }
    }
    const after = this.#transfers.find(id)
    if (after?.dismissed && isOver(after) && after.key?.state !== 'in-use') await this.#transfers.forget(id)
    return 'rest'
  }
}

/** By its name where the answer to its creation was lost. */
function targetOf({ id, key }: Transfer): DeletionTarget {
  return key ? { kind: 'apiKey', id: key.id } : { kind: 'apiKey', name: keyName(id) }
}

function hasKey({ key, keyAsked }: Transfer): boolean {
  return key?.state === 'in-use' || (keyAsked === true && !key)
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
