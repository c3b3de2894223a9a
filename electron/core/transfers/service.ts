import { type CopyRequest, isOver, type SyncRequest } from '../../contract/account/transfer.ts'
import type { InstanceView } from '../../contract/instance/instance.ts'
import { BerthError, type Problem } from '../../contract/problem.ts'
import { ServiceError } from '../../service/service-error.ts'
import type { CloudSync } from '../../service/transfers.ts'
import type { AccountContext } from '../account-context.ts'
import { needing } from '../app/permission.ts'
import { problemOf } from '../app/problems.ts'
import { cleanLine } from '../instances/project.ts'
import { same } from '../state/same.ts'
import { openCollection } from '../storage/collection.ts'
import { follow } from './follow.ts'
import { createKeyKeeper } from './key-keeper.ts'
import { Transfer } from './model.ts'
import { makeSyncKey } from './sync-key.ts'
import { transferViews } from './view.ts'
import { transferEntry } from './words.ts'

/** The copies and syncs that Berth started on one account (section 4.3). What they are is on disk before they begin. */
export interface Transfers {
  /** Resolves with the transfer's id once the service has taken it, or its answer was lost. */
  copy(request: CopyRequest): Promise<string>
  /** The same, with a key made for it, which goes when it has ended. */
  sync(request: SyncRequest): Promise<string>
  cancel(id: string): Promise<void>
  dismiss(id: string): Promise<void>
  /** What a fresh look at the account tells of them. */
  onPoll(instances: Readonly<Record<string, InstanceView>>): void
  /** Goes on with what an earlier session left. */
  resume(): void
  /** Before the account leaves Berth: no key that it made is forgotten. Resolves with those that stay. */
  deleteKeys(): Promise<readonly Transfer[]>
  /** Puts them into State. */
  show(): void
  /** Writes what waits to be written. */
  flush(): Promise<void>
}

/** Transfers remembered after their end. */
const mostOver = 50

export async function openTransfers(context: AccountContext): Promise<Transfers> {
  const { account, activity, client, ending, now } = context
  const transfers = await openCollection(context, {
    name: 'transfers',
    schema: Transfer,
    key: ({ id }) => id,
    missing: { code: 'no_such_transfer', message: 'That transfer is no longer on the list.' },
    // One whose key is still there stays.
    prune: { isOver: transfer => isOver(transfer) && transfer.key?.state !== 'in-use', most: mostOver },
    view: all => ({ transfers: transferViews(all) }),
  })
  const { all, get } = transfers
  const keys = createKeyKeeper(context, transfers)

  /** Once Berth ends, what has happened is not written any more: the next start finds out. */
  async function update(id: string, change: Partial<Transfer>): Promise<void> {
    if (!ending.aborted) await transfers.update(id, change)
  }

  function tell(kind: 'user' | 'berth' | 'error', text: string, transfer: Transfer, detail?: string): void {
    activity.add(transferEntry(account, kind, text, transfer, detail))
  }

  async function add(transfer: Omit<Transfer, 'id' | 'step' | 'startedAt'>): Promise<Transfer> {
    const added: Transfer = { ...transfer, id: `t${context.newId()}`, step: 'starting', startedAt: now() }
    await transfers.add(added)
    return added
  }

  /** It never began: nothing is left of it but, for a while, a key that must go. */
  async function giveUp(id: string, change: Partial<Transfer> = {}): Promise<void> {
    await update(id, { step: 'failed', dismissed: true, endedAt: now(), ...change })
    await keys.settle(id)
  }

  /** Asks the service to start it. A refusal is thrown, and nothing is left of it; a lost answer leaves it unknown. */
  async function start(transfer: Transfer, asking: Promise<CloudSync>): Promise<string> {
    const { id } = transfer
    try {
      const { msg, result_url } = await needing('instance_write', asking)
      const message = cleanLine(msg)
      const resultUrl = webAddress(result_url)
      await update(id, { step: 'running' as const, startedAt: now(), message, resultUrl })
      tell('user', 'Started', transfer)
    } catch (error) {
      if (!(error instanceof ServiceError && error.ambiguous)) {
        await giveUp(id)
        throw error
      }
      await update(id, { step: 'unknown', message: answerLost, startedAt: now() })
      tell('error', 'It is not known whether this began', transfer, problemOf(error).message)
    }
    void context.poll()
    return id
  }

  /** The key of a sync, its id on disk before its secret is used: so it is deleted even after a kill. */
  async function keyFor({ id }: Transfer): Promise<string> {
    try {
      const { key, secret } = await makeSyncKey(client(), id)
      ending.throwIfAborted()
      await transfers.intend(id, { key })
      return secret
    } catch (error) {
      // Made or not, where the answer was lost: it is looked for by its name.
      const unmade = error instanceof ServiceError && !error.ambiguous
      await giveUp(id, { keyAsked: !unmade })
      throw error
    }
  }

  return {
    async copy({ from, fromPath, to, toPath }) {
      const transfer = await add({
        kind: 'copy',
        from: { instance: from, path: fromPath },
        to: { instance: to, path: toPath },
      })
      return start(
        transfer,
        client().transfers.copy({
          src_id: String(from),
          src_path: fromPath,
          dst_id: String(to),
          dst_path: toPath,
        }),
      )
    },
    async sync({ instance, direction, instancePath, cloudPath, connection, flags }) {
      const here = { instance, path: instancePath }
      const cloud = { path: cloudPath }
      const outward = direction === 'Instance To Cloud'
      const [from, to] = outward ? [here, cloud] : [cloud, here]
      const transfer = await add({ kind: 'sync', direction, from, to, keyAsked: true })
      const secret = await keyFor(transfer)
      return start(
        transfer,
        client().transfers.cloudSync({
          instance_id: String(instance),
          src: from.path,
          dst: to.path,
          selected: connection,
          transfer: direction,
          flags,
          api_key: secret,
        }),
      )
    },
    async cancel(id) {
      const { kind, from, to } = get(id)
      const at = kind === 'copy' ? to.instance : (from.instance ?? to.instance)
      if (isOver(get(id)) || at === undefined) return
      const { transfers } = client()
      await needing('instance_write', kind === 'copy' ? transfers.cancelCopy(at) : transfers.cancelSync(at))
      // The service is told the instance alone, so it ends all of them there.
      for (const other of all().filter(other => cancelledWith(other, kind, at))) {
        await update(other.id, { step: 'cancelled', endedAt: now() })
        tell('user', 'Cancelled', other)
        void keys.settle(other.id)
      }
      void context.poll()
    },
    async dismiss(id) {
      const { step } = get(id)
      if (!isOver(get(id)) && step !== 'unknown') throw new BerthError(stillRunning)
      await update(id, { dismissed: true, endedAt: get(id).endedAt ?? now() })
      await keys.settle(id)
    },
    onPoll(instances) {
      for (const transfer of all()) {
        const others = all().filter(({ id }) => id !== transfer.id)
        const after = follow(transfer, others, instances, now())
        if (!same(transfer, after)) {
          void update(transfer.id, after)
          if (isOver(after))
            tell(after.step === 'failed' ? 'error' : 'berth', ended(after), after, after.message)
        }
        if (isOver(after)) void keys.settle(transfer.id)
      }
    },
    resume() {
      for (const { id, step, kind, key } of all()) {
        if (step !== 'starting') continue
        // The key is on disk before a sync is asked for.
        if (kind === 'sync' && !key) void update(id, { step: 'failed', message: neverBegan, endedAt: now() })
        else void update(id, { step: 'unknown', message: endedInBetween })
      }
    },
    async deleteKeys() {
      await Promise.all(all().map(({ id }) => keys.settle(id)))
      return all().filter(({ key }) => key !== undefined && key.state !== 'deleted')
    },
    show: transfers.show,
    flush: transfers.flush,
  }
}

function cancelledWith(transfer: Transfer, kind: Transfer['kind'], at: number): boolean {
  if (isOver(transfer) || transfer.kind !== kind) return false
  return transfer.to.instance === at || (kind === 'sync' && transfer.from.instance === at)
}

function ended({ step }: Transfer): string {
  if (step === 'done') return 'Done'
  return step === 'failed' ? 'Failed' : step === 'cancelled' ? 'Cancelled' : 'Lost sight of'
}

/** A link that may be opened. */
function webAddress(url: string | undefined): string | undefined {
  return url !== undefined && URL.canParse(url) && /^https?:$/.test(new URL(url).protocol) ? url : undefined
}

const answerLost = 'The service’s answer to the start was lost: it may be running.'
const endedInBetween = 'Berth ended while it was being started: it may be running.'
const neverBegan = 'Berth ended before it was started.'
const stillRunning: Problem = {
  code: 'still_running',
  message: 'It is still running.',
  advice: 'Cancel it first, or wait for its end.',
}
