import * as v from 'valibot'
import type { Activity } from '#core/activity.ts'
import { type DocumentPlace, openDocument } from '#core/storage/json-file.ts'
import type { Store } from '#core/storage/store.ts'
import type { Clock, Files } from '#platform/platform.ts'
import { deferred, orAborted } from '#platform/tasks.ts'
import { AccountId, InstanceId } from '#shared/ids.ts'
import { FileTransferId, type FileTransferView, isFileTransferOver } from '#shared/instance/files.ts'
import { BerthError, type Problem } from '#shared/problem.ts'
import type { ActivityEntry } from '#shared/state.ts'
import type { TransferJob } from '#ssh/files/transfer/job.ts'
import { FileTransfer, type FileTransferNeeds, RestartInfo } from './file-transfer.ts'

/** Milliseconds between two updates of progress. */
const updateInterval = 250
/** Transfers per instance that run at once; the others wait. */
const atOnce = 3
/** Ended transfers that are remembered per account. */
const mostOver = 50

export type FileTransfers = Awaited<ReturnType<typeof openFileTransfers>>

/** Stored data of the user's unfinished transfers, so that none is lost silently. */
const Begun = v.object({
  id: FileTransferId,
  account: AccountId,
  instance: InstanceId,
  direction: v.picklist(['up', 'down']),
  name: v.string(),
  folder: v.string(),
  startedAt: v.number(),
  again: v.optional(RestartInfo),
})
export type LostTransfer = v.InferOutput<typeof Begun>

function berthEnded(direction: FileTransferView['direction'], canRetry: boolean): Problem {
  const verb = canRetry ? 'Retry' : 'Start it again'
  return {
    code: 'berth_ended',
    message: 'Berth quit before it finished.',
    advice: direction === 'up' ? `${verb}. A partly sent file continues where it stopped.` : `${verb}.`,
  }
}

interface Wanted<Made extends TransferJob = TransferJob>
  extends Omit<FileTransferNeeds, 'id' | 'turn' | 'changed' | 'ended' | 'clock' | 'lost' | 'job'> {
  /** Creates the transfer's work. `changed` must be called on progress. */
  make(changed: () => void): Made
  /** Who started it, for Activity; by default the user. */
  by?: 'user' | 'berth'
  /** Called each time it is done, failed or was cancelled, so again after it was resumed. */
  onEnd?: (ended: FileTransferView) => void
}

interface FileTransfersContext {
  store: Store
  clock: Clock
  files: Files
  activity: Activity
  newId: () => string
  onBroken: DocumentPlace['onBroken']
}

/** Transfers between this computer and the instances of all accounts. Their progress is in State. */
export async function openFileTransfers({
  store,
  clock,
  files,
  activity,
  newId,
  onBroken,
}: FileTransfersContext) {
  const begun = await openDocument(
    { files, platform: { clock }, onBroken },
    'file-transfers',
    v.array(Begun),
    [],
  )
  /** Those that Berth began, which begins them again. */
  const own = new Set<string>()
  const all = new Map<string, FileTransfer>()
  const turns = new Map<string, Turns>()
  let closing = false
  let cancelUpdate: (() => void) | undefined
  /** The transfers whose changes are not in State yet. */
  const fresh = new Set<string>()

  function tell(): void {
    cancelUpdate = undefined
    store.change(draft => {
      for (const id of fresh) {
        const transfer = all.get(id)
        const target = transfer && draft.accounts[transfer.account]
        if (target) target.fileTransfers[id] = transfer.view()
      }
    })
    fresh.clear()
  }

  function updateSoon(id: string): void {
    fresh.add(id)
    if (!closing) cancelUpdate ??= clock.after(updateInterval, tell)
  }

  function updateNow(id: string): void {
    fresh.add(id)
    cancelUpdate?.()
    if (!closing) tell()
  }

  function forget(id: string): void {
    const transfer = all.get(id)
    all.delete(id)
    if (!transfer) return
    store.change(draft => {
      delete draft.accounts[transfer.account]?.fileTransfers[id]
    })
  }

  function keep(): void {
    const kept = [...all.values()]
      .filter(({ account }) => account !== 'demo')
      .map(transfer => ({ account: transfer.account, again: transfer.again, ...transfer.view() }))
      .filter(view => !own.has(view.id) && !isFileTransferOver(view))
    const isKept =
      kept.length === begun.get().length && kept.every(({ id }, at) => begun.get()[at]?.id === id)
    if (!isKept) void begun.record(() => kept.map(one => v.parse(Begun, one)))
  }

  function create<Made extends TransferJob>({
    by = 'user',
    onEnd,
    make,
    ...needs
  }: Wanted<Made> & Pick<FileTransferNeeds, 'id' | 'lost'>) {
    const { id, target } = needs
    const job = make(() => updateSoon(id))
    const place = `${target.account}/${target.instance.id}`
    const queue = turns.get(place) ?? new Turns(atOnce)
    turns.set(place, queue)
    const transfer = new FileTransfer({
      ...needs,
      job,
      clock,
      turn: signal => queue.take(signal),
      changed() {
        updateSoon(id)
        keep()
      },
      ended(ended) {
        const entry = endedEntry(ended.view(), by)
        if (entry) activity.add({ account: ended.account, ...entry })
        updateNow(id)
        onEnd?.(ended.view())
      },
    })
    if (by === 'berth') own.add(id)
    all.set(id, transfer)
    updateNow(id)
    keep()
    return { id, transfer, job }
  }

  function find(account: string, id: string): FileTransfer {
    const transfer = all.get(id)
    if (transfer?.account !== account)
      throw new BerthError({ code: 'no_such_transfer', message: 'That transfer is no longer on the list.' })
    return transfer
  }

  function prune(account: string): void {
    const ended = [...all].filter(
      ([, transfer]) => transfer.account === account && isFileTransferOver(transfer.view()),
    )
    for (const [id] of ended.slice(0, Math.max(0, ended.length - mostOver))) forget(id)
  }

  return {
    start<Made extends TransferJob>(
      needs: Wanted<Made>,
    ): {
      id: string
      transfer: FileTransfer
      job: Made
    } {
      const id = `f${newId()}`
      prune(needs.target.account)
      return create({ ...needs, id })
    },
    /** Throws `no_such_transfer`. */
    find,
    /** Removes an ended one from the list. */
    dismiss(account: string, id: string): void {
      const transfer = find(account, id)
      if (!isFileTransferOver(transfer.view()))
        throw new BerthError({
          code: 'still_running',
          message: 'It’s still in progress.',
          advice: 'Cancel it first.',
        })
      forget(id)
    },
    /**
     * Shows the user's transfers that an earlier Berth did not finish, once the accounts are in State. `begin` restarts
     * one; undefined if it can't be restarted.
     */
    tellLost(begin: (lost: LostTransfer) => Pick<Wanted, 'make' | 'connect'> | undefined): void {
      for (const one of begun.get()) {
        const { account, instance, startedAt, ...what } = one
        if (!store.get().accounts[account]) continue
        const target = { account, instance: { id: instance } }
        const begins = begin(one)
        const problem = berthEnded(one.direction, begins !== undefined)
        const connect = () => Promise.reject(new BerthError(problem))
        const lost = { problem, startedAt, forGood: !begins }
        create({ make: () => nothing, connect, ...begins, ...what, target, lost })
      }
      keep()
    },
    /** Resolves once it is on disk which are not finished. */
    async close(): Promise<void> {
      closing = true
      cancelUpdate?.()
      for (const transfer of all.values()) transfer.pause()
      await begun.flush()
    },
  }
}

/** Nothing is known any more of the files of an earlier Berth’s transfer. */
const nothing: TransferJob = {
  prepare: async () => undefined,
  run: async () => undefined,
  tally: () => undefined,
  leftOut: () => 0,
  discard: async () => undefined,
}

/** Lets so many run at once; the others wait in order. */
class Turns {
  #free: number
  readonly #waiting = new Set<() => void>()

  constructor(free: number) {
    this.#free = free
  }

  /** Resolves with a function that gives the turn back. */
  async take(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted()
    if (this.#free === 0) {
      const { promise, resolve } = deferred<void>()
      this.#waiting.add(resolve)
      await orAborted(promise, signal).finally(() => this.#waiting.delete(resolve))
    } else this.#free--
    let given = false
    return () => {
      if (given) return
      given = true
      const [next] = this.#waiting
      if (next) {
        this.#waiting.delete(next)
        next()
      } else this.#free++
    }
  }
}

/** A transfer's line in Activity. */
type TransferEntry = Pick<ActivityEntry, 'instance' | 'kind' | 'text' | 'detail'>

/** The entry for a transfer that is done or failed; none for a cancelled one. */
function endedEntry(view: FileTransferView, by: 'user' | 'berth'): TransferEntry | undefined {
  const { direction, instance, step, problem } = view
  if (step === 'done')
    return { instance, kind: by, text: `${direction === 'up' ? 'Uploaded' : 'Downloaded'} ${whatOf(view)}` }
  if (step !== 'failed') return undefined
  return {
    instance,
    kind: 'error',
    text: `${nameOf(direction)} failed: ${whatOf(view)}`,
    detail: problem?.message,
  }
}

function nameOf(direction: FileTransferView['direction']): string {
  return direction === 'up' ? 'Upload' : 'Download'
}

function whatOf({ direction, name, instance, folder }: FileTransferView): string {
  return `${name} ${direction === 'up' ? 'to' : 'from'} #${instance}:${folder}`
}
