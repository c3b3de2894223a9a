import { folderOf, lastName } from '#contract/instance/file-names.ts'
import type { InstanceView } from '#contract/instance/instance.ts'
import { BerthError, type Problem } from '#contract/problem.ts'
import type { AccountContext } from '#core/account-context.ts'
import { outputOf } from '#ssh/exec.ts'
import { withMark } from '#ssh/files/transfer/local-names.ts'
import { markRun, stillAtWork } from '#ssh/runs/runs.ts'
import { alertId, notDestroyedAlert, unreachedAlert } from '../alerts.ts'
import { entering, instanceGone } from '../decide.ts'
import type { Loops } from '../loops.ts'
import type { Run } from '../model.ts'
import type { RunParts } from '../parts.ts'
import { lastingErrors, leftBehind, pauseWhileChanging } from './left-behind.ts'

/** Downloads the folders of runs before their instances are ended. */
export interface Fetching {
  /**
   * Resolves once the folder is here or the download was dropped, or with false where the instance cannot be entered;
   * rejects for a retry, as with `results_changing`.
   */
  fetch(run: Run): Promise<boolean>
  /**
   * Handles a failed try, the one after `fails` others in a row. Returns the milliseconds until the next, `pause` or
   * less; undefined where there is none.
   */
  failed(run: Run, problem: Problem, tries: { fails: number; pause: number }): Promise<number | undefined>
  /** Ends a download silently, because it starts again or is given up. */
  drop(id: string): void
}

/** Milliseconds between two messages to the watchdog that a download is running. */
const busyEvery = 60_000
/** Seconds without a connection until the user is alerted. */
const alertAfter = 30
/** Failures in a row, with a connection that works, after which the instance is kept. */
const mostFailures = 8

export function createFetching(
  context: AccountContext,
  { runs, inside, watchdog, runAlerts, failing }: RunParts,
  loops: Loops,
): Fetching {
  const { account, store, machine, notifications, sync, ending } = context
  const { tell, note, nameOf } = runAlerts
  const { clock } = machine
  /** The present download of each run. */
  const downloads = new Map<string, AbortController>()

  function sayBusy(run: Run): void {
    if (!run.watchdog) return
    void inside(run, connection => markRun(connection, clock, run.id, 'busy')).catch(() => undefined)
  }

  /** Records that the instance cannot be reached: shown at once, and alerted once it lasts. */
  function shutOut(id: string, problem: Problem, nextTryAt?: number): void {
    const run = runs.find(id)
    if (run?.step !== 'fetching' || ending.aborted) return
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

  /** The folder on this computer for a run's download, and the name in it, which nothing else has. */
  async function placeOf({ id, into = machine.downloads.own, fetch = '', as }: Run) {
    const folder = (await machine.downloads.at(into)).path
    if (as !== undefined) return { folder, as }
    const here = machine.syncedFolders.at(folder)
    const isOthers = (name: string) => runs.all().some(run => run.as === name && run.into === into)
    for (let number = 1; ; number++) {
      const own = lastName(fetch)
      const name = number === 1 ? own : withMark(own, ` (${number})`)
      if ((await here.stat(name)) || isOthers(name)) continue
      await runs.update(id, { as: name })
      return { folder, as: name }
    }
  }

  /** The names of programs that the command started, which may still write what would be lost. */
  async function atWorkOf(run: Run, connection: Parameters<typeof outputOf>[0]): Promise<string> {
    if (run.afterwards !== 'destroy') return ''
    const { text, code } = await outputOf(connection, stillAtWork(run.id), {
      clock,
      within: 30_000,
      most: 4096,
    })
    return code === 0 ? text.trim() : ''
  }

  async function download(run: Run, view: InstanceView, atWork: string): Promise<void> {
    const { id, fetch = '' } = run
    const abort = new AbortController()
    downloads.set(id, abort)
    try {
      const result = await sync.down(view, {
        ...(await placeOf(run)),
        remote: folderOf(fetch),
        paths: [lastName(fetch)],
        last: true,
        by: id,
        signal: AbortSignal.any([abort.signal, ending]),
        onProgress(progress) {
          entered(id)
          runs.noteProgress(id, progress)
        },
        waiting: why => shutOut(id, why),
      })
      entered(id)
      const problem = leftBehind(result, atWork, 'try again')
      // What could not be downloaded is not lost where the instance is not destroyed.
      const isHarmless = problem?.code === 'results_left' && runs.find(id)?.afterwards !== 'destroy'
      if (problem && !isHarmless) throw new BerthError(problem)
    } finally {
      if (downloads.get(id) === abort) downloads.delete(id)
      runs.noteProgress(id, undefined)
    }
    abort.signal.throwIfAborted()
    const now = runs.find(id)
    const change = { fetched: true, changingSince: undefined }
    const after = now && (await runs.update(id, { ...change, ...entering({ ...now, ...change }) }))
    if (!after) return
    note(after, `Downloaded ${run.fetch} of ${run.name}`, `Into ${run.into ?? machine.downloads.own}`)
    await watchdog.tellIfStale(id)
    loops.work(id)
  }

  /** Keeps an instance whose folder could not be downloaded, from the watchdog, too. */
  async function keep(run: Run, { code, message, advice }: Problem): Promise<void> {
    const kept = await runs.update(run.id, {
      step: 'kept',
      problem: { code, message, advice },
      changingSince: undefined,
    })
    if (kept) tell(kept, notDestroyedAlert(account, kept, nameOf(kept), message))
    await watchdog.tellIfStale(run.id)
  }

  return {
    async fetch(run) {
      const { id } = run
      const atWork = await inside(run, async connection => {
        await watchdog.tell(run, connection)
        return atWorkOf(run, connection)
      })
      const view = store.get().accounts[account]?.instances[run.instance ?? '']
      if (atWork === undefined || !view) {
        if (view) shutOut(id, notEntered(view))
        return false
      }
      let cancelBusy: () => void = () => undefined
      const stayBusy = () => {
        sayBusy(run)
        cancelBusy = clock.after(busyEvery, stayBusy)
      }
      stayBusy()
      try {
        await download(run, view, atWork)
      } catch (error) {
        if (!(error instanceof Dropped)) throw error
      } finally {
        cancelBusy()
      }
      return true
    },
    async failed(run, problem, { fails, pause }) {
      const { id } = run
      if (problem.code === 'results_changing') {
        const now = clock.now() / 1000
        const wait = pauseWhileChanging(run.changingSince, now, pause)
        await runs.update(id, { changingSince: wait === undefined ? undefined : (run.changingSince ?? now) })
        if (wait === undefined) await failing.fail(id, problem)
        else runs.setProblem(id, problem)
        return wait
      }
      const isUnreached = problem.code.startsWith('ssh_') || problem.code === instanceGone.code
      if (!isUnreached && (lastingErrors.includes(problem.code) || fails + 1 >= mostFailures)) {
        // A stopped instance keeps its files, and one that is to be stopped needs no more.
        if (run.afterwards === 'stop') await failing.fail(id, problem)
        else await keep(run, problem)
        return undefined
      }
      shutOut(id, problem, context.now() + pause / 1000)
      return pause
    },
    drop(id) {
      entered(id)
      downloads.get(id)?.abort(new Dropped())
    },
  }
}

/** The reason of a download's end where it starts again or is given up. */
class Dropped extends Error {}

const notEntered = ({ state }: InstanceView): Problem => ({
  code: 'not_running',
  message: `The instance is ${state}, so it can’t be entered.`,
  advice: 'The download continues once it runs.',
})
