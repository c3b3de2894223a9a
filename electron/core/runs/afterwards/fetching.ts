import { folderOf, lastName } from '../../../contract/instance/file-names.ts'
import type { FileTransferView } from '../../../contract/instance/files.ts'
import type { InstanceView } from '../../../contract/instance/instance.ts'
import { BerthError, type Problem } from '../../../contract/problem.ts'
import { deferred } from '../../../ports/deferred.ts'
import { downloadJob } from '../../../ssh/files/transfer/download.ts'
import { markRun } from '../../../ssh/runs/runs.ts'
import type { AccountContext } from '../../account-context.ts'
import { problemOf } from '../../app/problems.ts'
import { alertId, notDestroyedAlert, unreachedAlert } from '../alerts.ts'
import { nextStep } from '../decide.ts'
import type { Loops } from '../loops.ts'
import type { Run } from '../model.ts'
import type { RunParts } from '../parts.ts'

/** Fetches what runs name before anything is done to their instances. */
export interface Fetching {
  /** Resolves once it has ended, or with false where there is no way in; rejects where it has to be tried again. */
  fetch(run: Run): Promise<boolean>
  /** There is no way in: said on the page at once, and to the user once that has lasted. */
  shutOut(id: string, problem: Problem, nextTryAt?: number): void
  /** What is under way ends without a word: it begins anew, or is given up. */
  drop(id: string): void
}

/** Milliseconds between two words to the watchdog that Berth is at it. */
const busyEvery = 60_000
/** Seconds without a way in until the user is told. */
const alertAfter = 30

export function createFetching(
  context: AccountContext,
  { runs, inside, watchdog, runAlerts }: RunParts,
  loops: Loops,
): Fetching {
  const { account, store, machine, notifications, fileTransfers } = context
  const { tell, note, nameOf } = runAlerts
  const { clock } = machine
  /** The transfer of each, while it is the one that counts. */
  const transfers = new Map<string, string>()

  function sayBusy(run: Run): void {
    if (!run.watchdog) return
    void inside(run, connection => markRun(connection, clock, run.id, 'busy')).catch(() => undefined)
  }

  function shutOut(id: string, problem: Problem, nextTryAt?: number): void {
    const run = runs.find(id)
    if (run?.step !== 'fetching' || context.ending.aborted) return
    const since = run.unreachedSince ?? context.now()
    const alertsNow = !run.unreachedAlerted && context.now() - since >= alertAfter
    runs.setProblem(id, problem, nextTryAt)
    if (run.unreachedSince !== undefined && !alertsNow) return
    const change = { unreachedSince: since, unreachedAlerted: alertsNow || run.unreachedAlerted }
    // On disk before it is told, so that it is not told twice.
    void runs.update(id, change).then(after => {
      if (after && alertsNow) tell(after, unreachedAlert(account, after, nameOf(after), problem.message))
    })
  }

  function entered(id: string): void {
    const run = runs.find(id)
    if (run?.unreachedSince === undefined) return
    runs.setProblem(id, undefined)
    void runs.update(id, { unreachedSince: undefined, unreachedAlerted: undefined })
    if (run.unreachedAlerted) notifications.withdraw(alertId(account, run))
  }

  async function fetchFrom(run: Run, view: InstanceView): Promise<void> {
    const { id } = run
    const done = deferred<Problem | undefined>()
    let cancelBusy: () => void = () => undefined
    const stayBusy = () => {
      sayBusy(run)
      cancelBusy = clock.after(busyEvery, stayBusy)
    }
    await inside(run, connection => watchdog.tell(run, connection))
    stayBusy()
    try {
      const begun = await beginFetch(context, run, view, {
        over: transfer => void ended(id, transfer).then(done.resolve, () => done.resolve(undefined)),
        entered: () => entered(id),
        shutOut: problem => shutOut(id, problem),
      })
      transfers.set(id, begun)
      const lost = await Promise.race([done.promise, loops.ended])
      if (lost) throw new BerthError(lost)
    } finally {
      cancelBusy()
    }
  }

  /** What became of it; a problem where it never got in, which is to be tried again. */
  async function ended(id: string, transfer: FileTransferView): Promise<Problem | undefined> {
    const run = runs.find(id)
    const counts = transfers.get(id) === transfer.id && !context.ending.aborted
    if (!run || !counts || (run.step !== 'fetching' && run.step !== 'kept')) return undefined
    const problem = fetchProblem(transfer, run)
    if (problem?.code.startsWith('ssh_') && run.step === 'fetching') return problem
    entered(id)
    if (problem) await keep(run, problem)
    else await arrived(run)
    return undefined
  }

  async function arrived(run: Run): Promise<void> {
    const step = nextStep({ ...run, fetched: true })
    const after = await runs.update(run.id, { fetched: true, step, problem: undefined })
    if (!after) return
    note(after, `Fetched ${run.fetch} of ${run.name}`, `Into ${run.into ?? machine.downloads.own}`)
    await watchdog.tellIfStale(run.id)
    loops.work(run.id)
  }

  /** What was to be fetched could not be: nothing is done to the instance, by the watchdog neither. */
  async function keep(run: Run, { code, message, advice }: Problem): Promise<void> {
    const kept = await runs.update(run.id, { step: 'kept', problem: { code, message, advice } })
    if (kept) tell(kept, notDestroyedAlert(account, kept, nameOf(kept), message))
    await watchdog.tellIfStale(run.id)
  }

  return {
    async fetch(run) {
      const begun = await inside(run, async (_connection, view) => {
        await fetchFrom(run, view)
        return true
      })
      if (begun) return true
      const view = store.get().accounts[account]?.instances[run.instance ?? '']
      if (view) shutOut(run.id, notEntered(view))
      return false
    },
    shutOut,
    drop(id) {
      entered(id)
      const transfer = transfers.get(id)
      transfers.delete(id)
      if (transfer === undefined) return
      try {
        void fileTransfers.find(account, transfer).cancel()
      } catch {
        // It is off the list already.
      }
    },
  }
}

const notEntered = ({ state }: InstanceView): Problem => ({
  code: 'not_running',
  message: `The instance is ${state}, so it cannot be entered.`,
  advice: 'Fetching goes on by itself once it runs.',
})

/** What is heard of a fetching. */
interface FetchEvents {
  /** It has ended, well or not; again where the user resumes it after a failure. */
  over(ended: FileTransferView): void
  /** It got in, or could not; it goes on trying once it was in. */
  entered(): void
  shutOut(problem: Problem): void
}

/**
 * Fetches what the run names into its folder on this machine, as one of the transfers that the page shows: its id.
 */
async function beginFetch(
  context: AccountContext,
  run: Run,
  view: InstanceView,
  { over, entered, shutOut }: FetchEvents,
): Promise<string> {
  const { account, access, machine, fileTransfers, store } = context
  const path = run.fetch ?? ''
  const into = await machine.downloads.at(run.into ?? machine.downloads.own)
  let changed: () => void = () => undefined
  const job = downloadJob({ paths: [path], into, system: machine.platform, changed: () => changed() })
  const begun = fileTransfers.start({
    target: { account, instance: view },
    by: 'berth',
    direction: 'down',
    folder: folderOf(path),
    name: lastName(path),
    job,
    async connect() {
      const instance = store.get().accounts[account]?.instances[view.id]
      if (!instance) throw new BerthError(instanceGone)
      try {
        const lease = await access.connect({ account, instance, client: context.client() })
        entered()
        return lease
      } catch (error) {
        shutOut(problemOf(error))
        throw error
      }
    },
    over,
  })
  changed = () => fileTransfers.progressed(begun.id)
  return begun.id
}

/** Why what arrived is not enough to go on with; undefined when it is. */
function fetchProblem(ended: FileTransferView, run: Run): Problem | undefined {
  if (ended.step === 'cancelled') return cancelled
  if (ended.step !== 'done') return ended.problem ?? cancelled
  if (ended.leftOut > 0 && run.afterwards === 'destroy')
    return {
      code: 'left_out',
      message: `${ended.leftOut} of its items were left out, such as links and devices, and would be lost.`,
      advice: 'Look at what is here, then destroy the instance yourself.',
    }
  return undefined
}

const cancelled = {
  code: 'cancelled',
  message: 'The fetching was cancelled.',
  advice: 'Try again, or end the instance yourself.',
}
const instanceGone = {
  code: 'no_such_instance',
  message: 'The instance is no longer on the account.',
}
