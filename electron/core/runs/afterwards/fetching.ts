import { folderOf, lastName } from '#contract/instance/file-names.ts'
import type { FileTransferView } from '#contract/instance/files.ts'
import type { InstanceView } from '#contract/instance/instance.ts'
import { BerthError, type Problem } from '#contract/problem.ts'
import type { AccountContext } from '#core/account-context.ts'
import { problemOf } from '#core/app/problems.ts'
import { deferred } from '#ports/deferred.ts'
import { downloadJob } from '#ssh/files/transfer/download.ts'
import { markRun } from '#ssh/runs/runs.ts'
import { alertId, notDestroyedAlert, unreachedAlert } from '../alerts.ts'
import { entering } from '../decide.ts'
import type { Loops } from '../loops.ts'
import type { Run } from '../model.ts'
import type { RunParts } from '../parts.ts'

/** Downloads the folders of runs before their instances are ended. */
export interface Fetching {
  /** Resolves once the download has ended, or with false where the instance cannot be entered; rejects for a retry. */
  fetch(run: Run): Promise<boolean>
  /** Records that the instance cannot be reached: shown at once, and alerted once it lasts. */
  shutOut(id: string, problem: Problem, nextTryAt?: number): void
  /** Ends a download silently, because it starts again or is given up. */
  drop(id: string): void
}

/** Milliseconds between two messages to the watchdog that a download is running. */
const busyEvery = 60_000
/** Seconds without a connection until the user is alerted. */
const alertAfter = 30

export function createFetching(
  context: AccountContext,
  { runs, inside, watchdog, runAlerts }: RunParts,
  loops: Loops,
): Fetching {
  const { account, store, machine, notifications, fileTransfers } = context
  const { tell, note, nameOf } = runAlerts
  const { clock } = machine
  /** The present transfer of each run. */
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
    // Stored before the alert, so that it is not repeated.
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

  /** Handles a transfer's end. Returns a problem if it never connected, which is to be retried. */
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
    const after = await runs.update(run.id, { fetched: true, ...entering({ ...run, fetched: true }) })
    if (!after) return
    note(after, `Fetched ${run.fetch} of ${run.name}`, `Into ${run.into ?? machine.downloads.own}`)
    await watchdog.tellIfStale(run.id)
    loops.work(run.id)
  }

  /** Keeps an instance whose folder could not be downloaded, from the watchdog, too. */
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

/** Callbacks of a download. */
interface FetchEvents {
  /** The transfer ended, done or not; called again where the user resumes it after a failure. */
  over(ended: FileTransferView): void
  /** It connected, or failed to; once connected, it retries by itself. */
  entered(): void
  shutOut(problem: Problem): void
}

/** Starts to download the run's folder to this computer, as a transfer on the page. Returns the transfer's id. */
async function beginFetch(
  context: AccountContext,
  run: Run,
  view: InstanceView,
  { over, entered, shutOut }: FetchEvents,
): Promise<string> {
  const { account, access, machine, fileTransfers, store } = context
  const path = run.fetch ?? ''
  const into = await machine.downloads.at(run.into ?? machine.downloads.own)
  const { id } = fileTransfers.start({
    target: { account, instance: view },
    by: 'berth',
    direction: 'down',
    folder: folderOf(path),
    name: lastName(path),
    make: changed => downloadJob({ paths: [path], into, system: machine.platform, changed }),
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
  return id
}

/** Why a download is not sufficient; undefined if it is. */
function fetchProblem(ended: FileTransferView, run: Run): Problem | undefined {
  if (ended.step === 'cancelled') return cancelled
  if (ended.step !== 'done') return ended.problem ?? cancelled
  if (ended.leftOut > 0 && run.afterwards === 'destroy')
    return {
      code: 'left_out',
      message: `${ended.leftOut} of its items were left out, such as links and devices, and would be lost.`,
      advice: 'Look at what is here, then destroy the instance yourself.',
    }
  if (ended.total === 0 && run.afterwards === 'destroy')
    return {
      code: 'empty',
      message: `${run.fetch} has no file with content.`,
      advice: 'Look for your results in Files, then destroy the instance yourself.',
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
