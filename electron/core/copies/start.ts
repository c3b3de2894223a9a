import type { ServiceClient } from '#service/client.ts'
import { ServiceError } from '#service/service-error.ts'
import type { CloudSync } from '#service/transfers.ts'
import type { CloudConnectionView, CopyRequest, SyncRequest } from '#shared/account/transfer.ts'
import { BerthError } from '#shared/problem.ts'
import type { AccountContext } from '../account-context.ts'
import { needingPermission, problemOf } from '../bridge/problems.ts'
import { cleanLine } from '../instances/instance-view.ts'
import { type KeyKeeper, makeSyncKey } from './key-keeper.ts'
import { answerLost, transferEntry, wideKeyNeeded } from './messages.ts'
import type { StoredTransfers, Transfer } from './record.ts'

/** Dependencies for starting a transfer. */
interface StartParts {
  context: AccountContext
  transfers: StoredTransfers
  keys: KeyKeeper
}

/** Resolves with its id once the service has accepted it, or its answer was lost. `run`: the name of the run that wants it. */
export async function startCopy(
  parts: StartParts,
  { from, backup, fromPath, to, toPath }: CopyRequest,
  run?: string,
): Promise<string> {
  const transfer = await add(parts, {
    kind: 'copy',
    from: backup ? { path: `vast.${from}:${fromPath}` } : { instance: from, path: fromPath },
    to: { instance: to, path: toPath },
  })
  const { transfers } = parts.context.client()
  const source = backup ? `vast.${from}` : String(from)
  const ends = { src_id: source, src_path: fromPath, dst_id: String(to), dst_path: toPath }
  return start(parts, transfer, transfers.copy(ends), run)
}

/** The same, with a key made for it. */
export async function startSync(parts: StartParts, request: SyncRequest, run?: string): Promise<string> {
  const { instance, direction, connection, flags, wideKey = false } = request
  const { from, to } = endsOf(request)
  const transfer = await add(parts, { kind: 'sync', direction, from, to, keyAsked: true })
  const secret = await keyFor(parts, transfer, { instance, mayBeWide: wideKey })
  const { transfers } = parts.context.client()
  return start(
    parts,
    transfer,
    transfers.cloudSync({
      instance_id: String(instance),
      src: from.path,
      dst: to.path,
      selected: connection,
      transfer: direction,
      flags,
      api_key: secret,
    }),
    run,
  )
}

/** A sync's ends, in its direction. */
export function endsOf({
  instance,
  direction,
  instancePath,
  cloudPath,
}: Pick<SyncRequest, 'instance' | 'direction' | 'instancePath' | 'cloudPath'>): Pick<
  Transfer,
  'from' | 'to'
> {
  const here = { instance, path: instancePath }
  const cloud = { path: cloudPath }
  return direction === 'Instance To Cloud' ? { from: here, to: cloud } : { from: cloud, to: here }
}

async function add(
  { context, transfers }: StartParts,
  transfer: Omit<Transfer, 'id' | 'step' | 'startedAt'>,
): Promise<Transfer> {
  const id = `t${context.newId()}`
  const added: Transfer = { ...transfer, id, step: 'starting', startedAt: context.now() }
  await transfers.add(added)
  return added
}

/** Drops a transfer that never began, and deletes its key. */
async function giveUp(
  { context, transfers, keys }: StartParts,
  id: string,
  change: Partial<Transfer> = {},
): Promise<void> {
  await transfers.note(id, { step: 'failed', dismissed: true, endedAt: context.now(), ...change })
  await keys.deleteUnused(id)
}

/** Requests the start. A refusal is thrown and the transfer dropped; after a lost answer its step is unknown. */
async function start(
  parts: StartParts,
  transfer: Transfer,
  asking: Promise<CloudSync>,
  run: string | undefined,
): Promise<string> {
  const { context, transfers } = parts
  const { account, activity, now } = context
  const { id } = transfer
  try {
    const { msg, result_url } = await needingPermission('instance_write', asking)
    const message = cleanLine(msg)
    await transfers.note(id, {
      step: 'running',
      startedAt: now(),
      message,
      resultUrl: webAddress(result_url),
    })
    const kind = run === undefined ? 'user' : 'berth'
    activity.add(transferEntry(account, kind, 'Started', transfer, run && `For ${run}`))
  } catch (error) {
    if (!(error instanceof ServiceError && error.ambiguous)) {
      await giveUp(parts, id)
      throw error
    }
    await transfers.note(id, { step: 'unknown', message: answerLost, startedAt: now() })
    const { message } = problemOf(error)
    activity.add(transferEntry(account, 'error', 'This may have started', transfer, message))
  }
  void context.poll()
  return id
}

/** Creates a sync's key. Its id is stored before its secret is used, so that it can be deleted even after a kill. */
async function keyFor(
  parts: StartParts,
  { id }: Transfer,
  terms: { instance: number; mayBeWide: boolean },
): Promise<string> {
  try {
    const { key, secret } = await makeSyncKey(parts.context.client(), id, terms)
    parts.context.quitting.throwIfAborted()
    await parts.transfers.intend(id, { key })
    // A service may accept the limits and not keep them.
    if (!key.limited && !terms.mayBeWide) throw new BerthError(wideKeyNeeded)
    return secret
  } catch (error) {
    // After a lost answer the key may exist, and is looked up by its name.
    const unmade = error instanceof ServiceError ? !error.ambiguous : error instanceof BerthError
    await giveUp(parts, id, { keyAsked: !unmade })
    throw error
  }
}

/** The link if it is HTTP or HTTPS. */
function webAddress(url: string | undefined): string | undefined {
  return url !== undefined && URL.canParse(url) && /^https?:$/.test(new URL(url).protocol) ? url : undefined
}

/** The account's cloud connections; none where the service does not list them. */
export async function cloudConnections({
  transfers,
}: Pick<ServiceClient, 'transfers'>): Promise<CloudConnectionView[]> {
  try {
    const listed = await needingPermission('user_read', transfers.connections())
    return listed.map(({ id, name, cloud_type }) => ({
      id: String(id),
      name: cleanLine(name),
      provider: cleanLine(cloud_type),
    }))
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'not_supported') return []
    throw error
  }
}
