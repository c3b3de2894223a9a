import type { FileTransferView } from '../../../contract/instance/files.ts'
import { isFileTransferOver } from '../../../contract/instance/files.ts'
import { BerthError } from '../../../contract/problem.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Activity } from '../../app/activity.ts'
import type { Store } from '../../state/store.ts'
import { FileTransfer, type FileTransferNeeds } from './file-transfer.ts'

/** Milliseconds between two updates of progress. */
const updateInterval = 250
/** Transfers with one instance that run at once; the others wait their turn. */
const atOnce = 3
/** Ended ones that are remembered, per account. */
const mostOver = 50

/** Files on their way between this machine and the instances of all accounts. What they are is in State. */
export interface FileTransfers {
  start(needs: Wanted): {
    id: string
    transfer: FileTransfer
  }
  /** It has got further. */
  progressed(id: string): void
  /** Throws `no_such_transfer`. */
  find(account: string, id: string): FileTransfer
  /** Takes an ended one off the list. */
  dismiss(account: string, id: string): void
  close(): void
}

interface Wanted extends Omit<FileTransferNeeds, 'id' | 'turn' | 'changed' | 'ended' | 'clock'> {
  /** Whose doing it is, in Activity; the user's, if not given. */
  by?: 'user' | 'berth'
  /** Called whenever it is done, failed or was cancelled: again after it was resumed. */
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
  /** Those that are not as they were told last. */
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

  function write(view: FileTransferView, account: string, kind: 'user' | 'berth'): void {
    const { direction, name, instance, folder, step, problem } = view
    const way = direction === 'up' ? 'Uploaded' : 'Downloaded'
    const what = `${name} ${direction === 'up' ? 'to' : 'from'} #${instance}:${folder}`
    if (step === 'done') activity.add({ account, instance, kind, text: `${way} ${what}` })
    if (step === 'failed')
      activity.add({
        account,
        instance,
        kind: 'error',
        text: `${direction === 'up' ? 'Upload' : 'Download'} failed: ${what}`,
        detail: problem?.message,
      })
  }

  /** It ends with Berth. What arrived stays, under a name that says that it is a part. */
  function noteBrokenOff(
    { direction, name, instance, folder, done, total }: FileTransferView,
    account: string,
  ) {
    const way = direction === 'up' ? 'Upload' : 'Download'
    const percent = total === 0 ? 0 : Math.floor((done / total) * 100)
    activity.add({
      account,
      instance,
      kind: 'berth',
      text: `${way} broken off at ${percent} % when Berth ended: ${name} ${direction === 'up' ? 'to' : 'from'} #${instance}:${folder}`,
      detail:
        'Begin it again: what has arrived in the same folder is not sent twice. A download that the browser took starts anew.',
    })
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
          write(ended.view(), ended.account, needs.by ?? 'user')
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
        if (!isFileTransferOver(view)) noteBrokenOff(view, transfer.account)
        transfer.pause()
      }
    },
  }
}

/** So many at once; the rest in the order in which they came. */
class Turns {
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(free: number) {
    this.#free = free
  }

  /** Resolves with what gives the turn back. */
  async take(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted()
    if (this.#free === 0) {
      await new Promise<void>((resolve, reject) => {
        const go = () => {
          signal.removeEventListener('abort', leave)
          resolve()
        }
        const leave = () => {
          const at = this.#waiting.indexOf(go)
          if (at >= 0) this.#waiting.splice(at, 1)
          reject(signal.reason)
        }
        this.#waiting.push(go)
        signal.addEventListener('abort', leave, { once: true })
      })
    } else this.#free--
    let given = false
    return () => {
      if (given) return
      given = true
      const next = this.#waiting.shift()
      if (next) next()
      else this.#free++
    }
  }
}
