import {
  type CopyRequest,
  isOver,
  type SyncRequest,
  type TransferView,
} from '../../../contract/account/transfer.ts'
import type { InstanceView } from '../../../contract/instance/instance.ts'
import { BerthError, type Problem } from '../../../contract/problem.ts'
import type { ServiceClient } from '../../../service/client.ts'
import { ServiceError } from '../../../service/service-error.ts'
import type { CloudSync } from '../../../service/transfers.ts'
import { needing } from '../../app/permission.ts'
import { problemOf } from '../../app/problems.ts'
import { cleanLine } from '../../instances/project.ts'
import { present } from '../../state/present.ts'
import { same } from '../../state/same.ts'
import type { Document } from '../../storage/json-file.ts'
import { follow } from './follow.ts'
import { createKeyKeeper } from './key-keeper.ts'
import { makeSyncKey } from './sync-key.ts'
import { type Transfer, transferViews } from './transfer.ts'

/** What the transfers of one account need of their surroundings. */
export interface TransfersContext {
  document: Document<Transfer[]>
  /** Throws `key_missing` while there is no key. */
  client(): ServiceClient
  /** Aborted when Berth ends. */
  ending: AbortSignal
  /** The account's time, epoch seconds. */
  now(): number
  /** Sixteen hexadecimal digits that were never used before. */
  newId(): string
  changed(): void
  /** Looks at the account at once. */
  poll(): Promise<void>
  tell(kind: 'user' | 'berth' | 'error', text: string, transfer: Transfer, detail?: string): void
}

/** The copies and syncs that Berth started on one account (section 4.3). What they are is on disk before they begin. */
export interface Transfers {
  /** Resolves with the transfer's id once the service has taken it, or its answer was lost. */
  copy(request: CopyRequest): Promise<string>
  /** The same, with a key made for it, which goes when it has ended. */
  sync(request: SyncRequest): Promise<string>
  cancel(id: string): Promise<void>
  dismiss(id: string): Promise<void>
  /** What a fresh look at the account tells of them. */
  looked(instances: Readonly<Record<string, InstanceView>>): void
  /** Goes on with what an earlier session left. */
  resume(): void
  /** Before the account leaves Berth: no key that it made is forgotten. Resolves with those that stay. */
  deleteKeys(): Promise<readonly Transfer[]>
  view(): Record<string, TransferView>
}

/** Transfers remembered after their end. */
const mostOver = 50

export function createTransfers(context: TransfersContext): Transfers {
  const { document, client, now, tell } = context
  const find = (id: string) => document.get().find(transfer => transfer.id === id)

  function existing(id: string): Transfer {
    const transfer = find(id)
    if (!transfer)
      throw new BerthError({ code: 'no_such_transfer', message: 'That transfer is no longer on the list.' })
    return transfer
  }

  async function update(id: string, change: Partial<Transfer>): Promise<void> {
    if (context.ending.aborted) return
    const written = document.record(all =>
      all.map(transfer => (transfer.id === id ? { ...transfer, ...change } : transfer)),
    )
    context.changed()
    await written
  }

  async function forget(id: string): Promise<void> {
    const written = document.record(all => all.filter(transfer => transfer.id !== id))
    context.changed()
    await written
  }

  const keys = createKeyKeeper({ ...context, update, forget, all: document.get })

  async function add(transfer: Omit<Transfer, 'id' | 'step' | 'startedAt'>): Promise<Transfer> {
    const added: Transfer = { ...transfer, id: `t${context.newId()}`, step: 'starting', startedAt: now() }
    await document.write(all => [...prune(all), added])
    context.changed()
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
      await update(id, present({ step: 'running' as const, startedAt: now(), message, resultUrl }))
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
      context.ending.throwIfAborted()
      await document.write(all => all.map(one => (one.id === id ? { ...one, key } : one)))
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
      const { kind, from, to } = existing(id)
      const at = kind === 'copy' ? to.instance : (from.instance ?? to.instance)
      if (isOver(existing(id)) || at === undefined) return
      const { transfers } = client()
      await needing('instance_write', kind === 'copy' ? transfers.cancelCopy(at) : transfers.cancelSync(at))
      // The service is told the instance alone, so it ends all of them there.
      for (const other of document.get().filter(other => cancelledWith(other, kind, at))) {
        await update(other.id, { step: 'cancelled', endedAt: now() })
        tell('user', 'Cancelled', other)
        void keys.settle(other.id)
      }
      void context.poll()
    },
    async dismiss(id) {
      const { step } = existing(id)
      if (!isOver(existing(id)) && step !== 'unknown') throw new BerthError(stillRunning)
      await update(id, { dismissed: true, endedAt: existing(id).endedAt ?? now() })
      await keys.settle(id)
    },
    looked(instances) {
      for (const transfer of document.get()) {
        const others = document.get().filter(({ id }) => id !== transfer.id)
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
      for (const { id, step, kind, key } of document.get()) {
        if (step !== 'starting') continue
        // The key is on disk before a sync is asked for.
        if (kind === 'sync' && !key) void update(id, { step: 'failed', message: neverBegan, endedAt: now() })
        else void update(id, { step: 'unknown', message: endedInBetween })
      }
    },
    async deleteKeys() {
      await Promise.all(document.get().map(({ id }) => keys.settle(id)))
      return document.get().filter(({ key }) => key !== undefined && key.state !== 'deleted')
    },
    view: () => transferViews(document.get()),
  }
}

function cancelledWith(transfer: Transfer, kind: Transfer['kind'], at: number): boolean {
  if (isOver(transfer) || transfer.kind !== kind) return false
  return transfer.to.instance === at || (kind === 'sync' && transfer.from.instance === at)
}

/** Those that are over go, oldest first; one whose key is still there stays. */
function prune(transfers: readonly Transfer[]): Transfer[] {
  const over = transfers.filter(transfer => isOver(transfer) && transfer.key?.state !== 'in-use')
  const dropped = new Set(over.slice(0, Math.max(0, over.length - mostOver)).map(({ id }) => id))
  return transfers.filter(({ id }) => !dropped.has(id))
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
