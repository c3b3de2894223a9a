import { relative, sep } from 'node:path'
import { canGetIn } from '#shared/derived.ts'
import { folderOf, lastName } from '#shared/instance/file-names.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import type { SyncProgress } from '#shared/instance/sync.ts'
import { BerthError, type Problem } from '#shared/problem.ts'
import { resultsOf } from '#shared/project/bounds.ts'
import { outputOf } from '#ssh/exec.ts'
import { withMark } from '#ssh/files/transfer/local-names.ts'
import { keepOnVolume } from '#ssh/runs/cache-folders.ts'
import { markRun, type StoreOrder, stillAtWork } from '#ssh/runs/runs.ts'
import type { AccountContext } from '../account-context.ts'
import { alertId, notDestroyedAlert, type RunAlerts, unreachedAlert } from './alerts.ts'
import { keptOnMachine } from './changes.ts'
import { leftBehind, stillWritten } from './left-behind.ts'
import { folderEmptied, inTheWay, notEntered } from './messages.ts'
import { isInterrupted, isOfProject, isWorker, type ProjectRun, type Run } from './model.ts'
import { environmentText, type RunMachines, remoteFolder, writeEnvironment } from './remote.ts'
import type { RunProjects, RunSweeps } from './rooms-above.ts'
import { askSetUp, removeGone, removeLeft } from './setup-cache.ts'
import type { NextAttempt, StoredRuns } from './stored-runs.ts'
import type { RunWatchdog } from './watchdog.ts'

/** The end of an upload or download that starts again or is given up. */
export class Dropped extends Error {}

interface FolderParts {
  runs: StoredRuns
  machines: RunMachines
  watchdog: RunWatchdog
  alerts: RunAlerts
  projects: RunProjects
  sweeps: Pick<RunSweeps, 'settingOf'>
}

/** Milliseconds between two messages to the watchdog that a download is running. */
const busyEvery = 60_000
/** Milliseconds for files to move to a volume; what has moved by then stays there. */
const keptWithin = 600_000
/** Milliseconds without a connection after which a project's transfer counts as failed, which is given up after a while. */
const mostApart = 120_000
/** Seconds without a connection until the user is alerted. */
const alertAfter = 30
/** How many names of renamed files are listed. */
const mostBeside = 100

/** The folders that runs send to their machines and download from them. */
export class RunFolders {
  readonly #context: AccountContext
  readonly #parts: FolderParts
  /** The present upload or download of each run. */
  readonly #underWay = new Map<
    string,
    { abort: AbortController; over: Promise<unknown>; instance: number | undefined }
  >()

  constructor(context: AccountContext, parts: FolderParts) {
    this.#context = context
    this.#parts = parts
  }

  /** One transfer at a time for each run, which `drop` ends, or `dropLost`. */
  async alone<Result>(
    { id, instance }: Pick<Run, 'id' | 'instance'>,
    transfer: (options: { signal: AbortSignal; onProgress(progress: SyncProgress): void }) => Promise<Result>,
  ): Promise<Result> {
    const { quitting } = this.#context
    const { runs } = this.#parts
    await this.#underWay.get(id)?.over.catch(() => undefined)
    const abort = new AbortController()
    const signal = AbortSignal.any([abort.signal, quitting])
    const onProgress = (progress: SyncProgress) => {
      this.#entered(id)
      runs.noteProgress(id, progress)
    }
    const transferring = transfer({ signal, onProgress })
    this.#underWay.set(id, { abort, over: transferring, instance })
    try {
      const result = await transferring
      abort.signal.throwIfAborted()
      return result
    } finally {
      if (this.#underWay.get(id)?.abort === abort) this.#underWay.delete(id)
      runs.noteProgress(id, undefined)
    }
  }

  /** Writes the environment that the next program reads. Throws `secret_missing`. */
  async placeEnvironment(run: ProjectRun): Promise<void> {
    const { projects, sweeps, machines } = this.#parts
    const values = { ...(await projects.environmentOf(run)), ...placeOfNode(run), ...sweeps.settingOf(run) }
    await machines.ask(run, writeEnvironment(run), environmentText(values))
  }

  /**
   * Where the machine stores the results while the command runs. It begins with the last snapshot where the run has begun on
   * another machine, unless it has what that had.
   */
  async storeFor(run: ProjectRun): Promise<StoreOrder | undefined> {
    const { projects } = this.#parts
    const { id, sweep, instance, begunOn, brought } = run
    const store = isWorker(run) ? undefined : await projects.storeFor(run)
    if (!store) return undefined
    const hasMoved = (begunOn !== undefined && begunOn !== instance) || (sweep?.attempt ?? 0) > 0
    return {
      ...store,
      run: sweep ? `${sweep.id}-${sweep.index}` : id,
      folder: remoteFolder(run),
      restores: hasMoved && brought === undefined,
    }
  }

  /** Sends the project's folder. */
  async send(run: ProjectRun): Promise<void> {
    const { sync } = this.#context
    const { machines, runs, projects, sweeps } = this.#parts
    const { folder, secretFiles: confirmed, spec } = run.project
    const remote = await machines.folderOf(run)
    await this.#refuseEmptied(run)
    await runs.update(run.id, { place: remote })
    const environment = { ...(await projects.environmentOf(run)), ...placeOfNode(run) }
    const varying = sweeps.settingOf(run)
    if (run.reuses) await machines.ask(run, 'sh -s', removeLeft(run))
    const { volume, cache, setup } = spec
    if (volume && cache !== undefined)
      await machines.ask(run, 'sh -s', await keepOnVolume(volume.at, [cache].flat()), keptWithin)
    await runs.update(run.id, { commit: await projects.commitOf(folder) })
    const view = machines.viewOf(run.instance)
    if (!view) return
    // One that moves continues with its own results, and none has those of earlier runs.
    const own = run.moves ? run.id : undefined
    const sent = await this.alone(run, options =>
      sync.up(view, {
        ...options,
        mostApart,
        folder,
        remote,
        confirmed,
        results: resultsOf(spec),
        own,
        removeGone: async present => void (await machines.ask(run, 'sh -s', removeGone(run, present, true))),
      }),
    )
    if (sent.present.length > 0) await runs.update(run.id, { hadFiles: true })
    await this.alone(run, ({ signal }) => projects.copyFromClouds(run, remote, signal))
    await machines.ask(run, 'sh -s', removeGone(run, sent))
    if (setup === undefined || run.isSetUp) return
    const read = { environment, varying, files: sent.present }
    const isSame = (await machines.ask(run, 'sh -s', askSetUp(run, read))) === 'setup same'
    if (isSame) await runs.update(run.id, { isSetUp: true })
  }

  /** Whether the newest that was downloaded of it is still on this computer, as it came. False where that can't be read. */
  async hasDownloaded({ id, project, sweep, into }: ProjectRun): Promise<boolean> {
    const folder = sweep && into !== undefined ? into : project.folder
    return this.#context.sync.hasAll(folder, id).catch(() => false)
  }

  /** Sends the results that a run of a sweep had on another machine, from the folder that only it has. */
  async sendResults(run: ProjectRun): Promise<void> {
    const { sync } = this.#context
    const { machines } = this.#parts
    const view = machines.viewOf(run.instance)
    if (!run.sweep || !view || !(run.moves || this.#wasInterrupted(run))) return
    const [folder, remote] = [await this.#resultsFolder(run), await machines.folderOf(run)]
    const own = run.moves ? run.id : undefined
    await this.alone(run, options => sync.up(view, { ...options, mostApart, folder, remote, all: true, own }))
  }

  /**
   * Downloads results, of which all must arrive if it is the `last` time: throws `results_missing`, `results_left` or
   * `results_changing`, else `checkpoint_waits` where some are still being written. Resolves with false where the
   * machine cannot be entered.
   */
  async fetch(run: Run, last: boolean): Promise<boolean> {
    const { clock } = this.#context.platform
    const { watchdog, machines } = this.#parts
    const { id, program } = run
    // Asked before the download, which then has all that they wrote.
    const isAsked =
      last && program !== undefined && !run.outcome && (run.project || run.afterwards === 'destroy')
    const atWork = await machines.inside(run, async connection => {
      await watchdog.tell(run, connection)
      if (!isAsked) return ''
      const bounds = { clock, within: 30_000, most: 4096 }
      const { text, code } = await outputOf(
        connection,
        // On a machine that waits, what has detached itself goes on until the next run.
        stillAtWork(program, run.keep === undefined),
        bounds,
      )
      return code === 0 ? text.trim() : ''
    })
    const view = machines.viewOf(run.instance)
    if (atWork === undefined || !view) {
      if (view) await this.#shutOut(id, notEntered(view))
      return false
    }
    let cancelBusy: () => void = () => undefined
    const stayBusy = () => {
      if (run.watchdog)
        void machines.inside(run, connection => markRun(connection, clock, id, 'busy')).catch(() => undefined)
      cancelBusy = clock.after(busyEvery, stayBusy)
    }
    stayBusy()
    try {
      await this.#download(run, view, { atWork, last })
    } finally {
      cancelBusy()
    }
    return true
  }

  /** Shows that a download failed, and alerts once it has for a while. */
  async hindered(run: Run, problem: Problem, retry: NextAttempt): Promise<void> {
    const { clock } = this.#context.platform
    const { runs } = this.#parts
    if (problem.code === 'results_changing') {
      await runs.update(run.id, { changingSince: run.changingSince ?? clock.now() / 1000 })
      runs.setProblem(run.id, problem, retry)
    } else await this.#shutOut(run.id, problem, retry)
  }

  /** Leaves the instance of a command, whose folder could not be downloaded, as it is, for its watchdog, too. */
  async keep(run: Run, problem: Problem): Promise<void> {
    const { account } = this.#context
    const { runs, alerts, watchdog } = this.#parts
    const kept = await runs.update(run.id, keptOnMachine(problem))
    if (kept) alerts.tell(kept, notDestroyedAlert(account, kept, alerts.nameOf(kept), problem.message))
    await watchdog.tellIfStale(run.id)
  }

  /** Ends the present upload or download with `Dropped`, because it starts again or is given up. */
  drop(id: string): void {
    this.#entered(id)
    this.#underWay.get(id)?.abort.abort(new Dropped())
  }

  /** Ends the transfers with machines that don't run any more, whose connections would be awaited for ever. */
  dropLost(): void {
    const { machines } = this.#parts
    for (const { abort, instance } of this.#underWay.values()) {
      const view = machines.viewOf(instance)
      if (!view || !canGetIn(view)) abort.abort(new Dropped())
    }
  }

  /** A download waits for its connection, unless its run has left the machine. */
  #cutOff({ id, instance }: Run, why: Problem): void {
    const { runs } = this.#parts
    if (runs.find(id)?.instance === instance) void this.#shutOut(id, why)
    else this.#underWay.get(id)?.abort.abort(new Dropped())
  }

  /** Records that the instance cannot be reached: shown at once, and alerted once it lasts. */
  async #shutOut(id: string, problem: Problem, retry?: NextAttempt): Promise<void> {
    const { quitting, account } = this.#context
    const { runs, alerts } = this.#parts
    const run = runs.find(id)
    if (run?.step !== 'fetching' || quitting.aborted) return
    runs.setProblem(id, problem, retry)
    // That of a project is given up after a while, which is alerted then.
    if (run.project) return
    const since = run.unreachedSince ?? this.#context.now()
    const alertsNow = !run.unreachedAlerted && this.#context.now() - since >= alertAfter
    if (run.unreachedSince !== undefined && !alertsNow) return
    const change = { unreachedSince: since, unreachedAlerted: alertsNow || run.unreachedAlerted }
    // Stored before the alert, so that it is not repeated.
    const after = await runs.update(id, change)
    if (after && alertsNow)
      alerts.tell(after, unreachedAlert(account, after, alerts.nameOf(after), problem.message))
  }

  #entered(id: string): void {
    const { notifications, account } = this.#context
    const { runs } = this.#parts
    const run = runs.find(id)
    if (run?.unreachedSince === undefined) return
    runs.setProblem(id, undefined)
    void runs.update(id, { unreachedSince: undefined, unreachedAlerted: undefined })
    if (run.unreachedAlerted) notifications.withdraw(alertId(account, run))
  }

  /** Where a run's results are on its machine, and where they go. */
  async #placeOf(run: Run) {
    const { machines } = this.#parts
    if (isOfProject(run)) {
      const { spec } = run.project
      await this.#refuseEmptied(run)
      return {
        folder: await this.#resultsFolder(run),
        remote: await machines.folderOf(run),
        paths: resultsOf(spec),
      }
    }
    const { fetch = '' } = run
    return { ...(await this.#localPlaceOf(run)), remote: folderOf(fetch), paths: [lastName(fetch)] }
  }

  /** Throws `no_such_folder` where a project's folder had files and is empty now, as the place of a disk that isn't mounted is. */
  async #refuseEmptied({ hadFiles, project: { folder } }: ProjectRun): Promise<void> {
    if (!hadFiles) return
    const left = await this.#context.platform.syncedFolders.at(folder).list('')
    if (left.length === 0) throw new BerthError(folderEmptied(folder))
  }

  /**
   * The folder on this computer for a project's results: in a sweep one of the run's own, so that no two meet in a file.
   * What is in them is neither sent nor committed. Throws `no_such_folder` where the project's folder has gone.
   */
  async #resultsFolder({ project, sweep, into }: ProjectRun): Promise<string> {
    const { platform } = this.#context
    if (!sweep || into === undefined) return project.folder
    const here = platform.syncedFolders.at(project.folder)
    await here.list('')
    const own = relative(project.folder, into).split(sep)
    const isMade = await here.makeFolder(own.join('/'))
    if (!isMade) throw new BerthError(inTheWay(into))
    await here.create(`${own[0]}/.gitignore`, '*\n')
    return into
  }

  /** The folder on this computer for a command's download, and the name in it, which nothing else has. */
  async #localPlaceOf({ id, into = this.#context.platform.downloads.own, fetch = '', as }: Run) {
    const { platform } = this.#context
    const { runs } = this.#parts
    const folder = (await platform.downloads.at(into)).path
    if (as !== undefined) return { folder, as }
    const here = platform.syncedFolders.at(folder)
    const isOthers = (name: string) => runs.all().some(run => run.as === name && run.into === into)
    for (let number = 1; ; number++) {
      const own = lastName(fetch)
      const name = number === 1 ? own : withMark(own, ` (${number})`)
      if ((await here.stat(name)) || isOthers(name)) continue
      await runs.update(id, { as: name })
      return { folder, as: name }
    }
  }

  async #download(run: Run, view: InstanceView, { atWork, last }: { atWork: string; last: boolean }) {
    const { sync } = this.#context
    const { runs, projects } = this.#parts
    const { id } = run
    const place = await this.#placeOf(run)
    const result = await this.alone(run, options =>
      sync.down(view, {
        ...options,
        ...place,
        last,
        by: id,
        waiting: why => this.#cutOff(run, why),
        ...(run.project && { mostApart }),
      }),
    )
    this.#entered(id)
    await runs.update(id, current => {
      const beside = new Set([
        ...(current.downloadResult?.beside ?? []),
        ...result.beside.map(({ as }) => as),
      ])
      return {
        ...current,
        downloadResult: { files: result.filesInAll, beside: [...beside].slice(0, mostBeside) },
      }
    })
    const waiting = stillWritten(result)
    if (!last && waiting) throw new BerthError(waiting)
    if (!last) return
    const problem = leftBehind(result, atWork, run.project ? 'resume' : 'try again')
    if (problem && !isHarmless(runs.find(id) ?? run, problem.code)) throw new BerthError(problem)
    if (!problem && !run.outcome) await sync.removeEarlier(place.folder)
    if (isOfProject(run) && !run.outcome)
      await this.alone(run, ({ signal }) => projects.copyToCloud(run, place.remote, signal))
  }

  /** Whether the attempt before it was stopped on a machine that is gone, and not by its own failure. */
  #wasInterrupted({ sweep }: ProjectRun): boolean {
    const { runs } = this.#parts
    return runs.all().some(({ sweep: other, step, problem }) => {
      if (!sweep || other?.id !== sweep.id || other.index !== sweep.index) return false
      return other.attempt === sweep.attempt - 1 && isInterrupted({ step, problem })
    })
  }
}

/** A node's place, also for its set-up. */
function placeOfNode({ node }: Run): Record<string, string> {
  return node ? { NODE_RANK: String(node.rank), NUM_NODES: String(node.count) } : {}
}

/**
 * Whether the remaining files are no loss: they stay on a machine that isn't destroyed, or a command that failed wrote
 * none, or still writes them, which nothing waits for.
 */
function isHarmless({ project, afterwards, outcome }: Run, code: string): boolean {
  if (code === 'results_missing' || code === 'results_changing') return outcome !== undefined
  return code === 'results_left' && !project && afterwards !== 'destroy'
}
