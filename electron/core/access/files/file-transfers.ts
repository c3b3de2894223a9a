import type { FileTransferView } from '../../../contract/instance/files.ts'
import { isFileTransferOver } from '../../../contract/instance/files.ts'
import { BerthError } from '../../../contract/problem.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Activity } from '../../app/activity.ts'
import type { Store } from '../../state/store.ts'
import { FileTransfer, type FileTransferNeeds } from './file-transfer.ts'
import { brokenOffEntry, endedEntry, type TransferEntry } from './transfer-entries.ts'
import { Turns } from './turns.ts'

/** Milliseconds between two updates of progress. */
const updateInterval = 250
/** Transfers per instance that run at once; the others wait. */
const atOnce = 3
/** Ended transfers that are remembered per account. */
const mostOver = 50

/** Transfers between this computer and the instances of all accounts. Their progress is in State. */
export interface FileTransfers {
  start(needs: Wanted): {
    id: string
    transfer: FileTransfer
  }
  /** Call when a transfer has made progress. */
  progressed(id: string): void
  /** Throws `no_such_transfer`. */
  find(account: string, id: string): FileTransfer
  /** Removes an ended one from the list. */
  dismiss(account: string, id: string): void
  close(): void
}

interface Wanted extends Omit<FileTransferNeeds, 'id' | 'turn' | 'changed' | 'ended' | 'clock'> {
  /** Who started it, for Activity; by default the user. */
  by?: 'user' | 'berth'
  /** Called each time it is done, failed or was cancelled, so again after it was resumed. */
  over?: (ended: FileTransferView) => void
}

interface FileTransfersContext {
  store: Store
  clock: Clock
  activity: Activity
  newId: () => string
}

export function createFileTransfers({ store, clock, activity, newId }: FileTransfersContext): FileTransfers {
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

  function note(account: string, entry: TransferEntry | undefined): void {
    if (entry) activity.add({ account, ...entry })
  }

  function prune(account: string): void {
    const over = [...all].filter(
      ([, transfer]) => transfer.account === account && isFileTransferOver(transfer.view()),
    )
    for (const [id] of over.slice(0, Math.max(0, over.length - mostOver))) forget(id)
  }

  return {
    start(needs) {
      const id = `f${newId()}`
      const place = `${needs.target.account}/${needs.target.instance.id}`
      const queue = turns.get(place) ?? new Turns(atOnce)
      turns.set(place, queue)
      prune(needs.target.account)
      const transfer = new FileTransfer({
        ...needs,
        id,
        clock,
        turn: signal => queue.take(signal),
        changed: () => updateSoon(id),
        ended: ended => {
          note(ended.account, endedEntry(ended.view(), needs.by ?? 'user'))
          updateNow(id)
          needs.over?.(ended.view())
        },
      })
      all.set(id, transfer)
      updateNow(id)
      return { id, transfer }
    },
    progressed: updateSoon,
    find(account, id) {
      const transfer = all.get(id)
      if (transfer?.account !== account)
        throw new BerthError({ code: 'no_such_transfer', message: 'That transfer is no longer on the list.' })
      return transfer
    },
    dismiss(account, id) {
      const transfer = this.find(account, id)
      if (!isFileTransferOver(transfer.view()))
        throw new BerthError({
          code: 'still_running',
          message: 'It is still under way.',
          advice: 'Cancel it first.',
        })
      forget(id)
    },
    close() {
      closing = true
      cancelUpdate?.()
      for (const transfer of all.values()) {
        const view = transfer.view()
        if (!isFileTransferOver(view)) note(transfer.account, brokenOffEntry(view))
        transfer.pause()
      }
    },
  }
}
