import type { Limit, LimitAction } from '#shared/automation/limit.ts'
import { isGoing, type RunAction, type RunProgram } from '#shared/automation/run.ts'
import { canGetIn } from '#shared/derived.ts'
import { BerthError, type Problem } from '#shared/problem.ts'
import { endRun, markRun } from '#ssh/runs/runs.ts'
import type { AccountContext, AccountPoll } from '../account-context.ts'
import type { Departures } from '../departures/perform.ts'
import { Worker } from '../engine/worker.ts'
import type { StoredLimits } from '../limits/model.ts'
import type { LimitTarget } from '../limits/targets.ts'
import { rentedWith } from '../renting/rental.ts'
import type { Rentals } from '../renting/rentals.ts'
import type { Watchdogs } from '../watchdogs/perform.ts'
import { alertId, runAlertsOf } from './alerts.ts'
import { createBeforeStops } from './before-stop.ts'
import { failed, over, refetching, resumed, retried } from './changes.ts'
import { createGoingOn } from './continue-failed.ts'
import { allowedAction } from './decide.ts'
import {
  commandNotReached,
  machineGone,
  notFailed,
  runGoing,
  severalMachines,
  tooLate,
  watchdogStale,
} from './messages.ts'
import {
  asksForNotice,
  hasUndownloadedResults,
  isOfProject,
  isWorker,
  type ProjectRun,
  programsOf,
  type Run,
} from './model.ts'
import { createNewRuns, type NewRun } from './new-runs.ts'
import { createRunNodes } from './nodes.ts'
import { createOutputs, type RunOutput } from './output.ts'
import { createPlannedMoves } from './planned-moves.ts'
import { createPrograms } from './programs.ts'
import { createRunMachines } from './remote.ts'
import { createRunWork, type RunWork } from './scheduler.ts'
import { createMoves } from './steps.ts'
import { type StoredRuns, surplusRuns } from './stored-runs.ts'
import { createTimedRuns } from './timed-runs.ts'
import { createRunFolders, type RunProjects } from './transfer-results.ts'
import { openWaitingMachines } from './waiting-machines.ts'
import { createRunWatchdog } from './watchdog.ts'

export type Runs = Awaited<ReturnType<typeof openRuns>>

/** What runs need to know of their sweeps. */
export interface RunSweeps {
  /** Whether one of a project, other than `except`, has runs in progress or to come. */
  isBusy(project: string, except?: string): boolean
  /** The stops of a run's machine: in a sweep, its share of what is left of the whole. */
  limitsOf(run: ProjectRun): readonly Limit[]
  /** Whether one has cost all that it may, the disks of its stopped machines included. */
  isSpent(sweep: string): boolean
  /** The variables of the environment that differ from run to run. */
  settingOf(run: ProjectRun): Readonly<Record<string, string>>
}

/** Dependencies of runs, besides the account. */
export interface RunServiceParts {
  runs: StoredRuns
  watchdogs: Watchdogs
  rentals: Pick<Rentals, 'find' | 'cancel' | 'dismiss' | 'ofInstance'>
  limits: Pick<StoredLimits, 'all' | 'put' | 'forget'>
  projects: RunProjects
  sweeps: RunSweeps
  departures: Departures
  /** Whether what left the account since then, in epoch seconds, allows for such a cost. */
  mayHaveCost(cost: number, since: number): boolean
}

/** How many ended runs are kept. */
const mostEnded = 200

/**
 * The runs of one account, of commands and of projects: starts them, follows them, and carries out the choice for their
 * end.
 */
export async function openRuns(
  context: AccountContext,
  { runs, watchdogs, rentals, limits, projects, sweeps, departures, mayHaveCost }: RunServiceParts,
) {
  const { account, store, platform, files, activity, notifications, now } = context
  const { clock } = platform
  const outputs = createOutputs(files, `${context.folder}/runs`, runs)
  const alerts = runAlertsOf(context)
  const { note } = alerts
  const machines = createRunMachines(context)
  const { inside, viewOf } = machines
  const watchdog = createRunWatchdog(context, { watchdogs, runs, inside, note })
  const { tellIfStale } = watchdog
  const beforeStops = createBeforeStops(context, { runs, inside })
  const folders = createRunFolders(context, {
    runs,
    machines,
    watchdog,
    alerts,
    projects,
    settingOf: run => sweeps.settingOf(run),
  })
  const { ending } = context
  const worker: Worker<string> = new Worker({ clock, ending, turn: id => work.turn(id) })
  const checkpoints: Worker<string> = new Worker({
    clock,
    ending,
    turn: id => work.checkpoint(id),
    hindered: (id, { problem }) => work.noteCheckpoint(id, problem),
  })
  const programs = createPrograms(context, {
    runs,
    machines,
    watchdog,
    alerts,
    rentedWith: (instance = 0) => rentedWith(rentals.ofInstance(instance)?.rental, context.record(instance)),
    outputOf: outputs.of,
    nodeCommand: run => nodes.prepare(run),
    folders,
    departures,
    pause: (id, milliseconds) => worker.pause(id, milliseconds),
  })
  const waiting = await openWaitingMachines(context, { runs, machines, limits, watchdogs, note })
  /** Instances that certainly no longer exist. */
  const gone = new Set<number>()
  const nodes = createRunNodes(context, { runs, machines, projects })
  const goingOn = createGoingOn(context, {
    runs,
    machines,
    limits,
    outputs,
    isSweeping: (project, except) => sweeps.isBusy(project, except),
    limitsOf: run => sweeps.limitsOf(run),
    restart: id => worker.hurry(id),
  })
  const plannedMoves = createPlannedMoves(context, { runs, machines, beforeStops, goingOn })
  const moves = createMoves(context, {
    nodes,
    stopOf: run => work.stopOf(run),
    isGone: instance => gone.has(instance),
    waiting,
    departures,
    plannedMoves,
    async giveUp({ id, instance = 0 }) {
      await beforeStops.ofInstance(instance)
      await withdraw(id)
    },
    limitsOf: run => sweeps.limitsOf(run),
    runs,
    alerts,
    machines,
    watchdog,
    programs,
    folders,
    projects,
    rentals,
  })
  /** Runs whose instance is being rented right now. */
  const asking = new Set<string>()
  const work: RunWork = createRunWork(context, {
    nodes,
    gone,
    runs,
    moves,
    worker,
    checkpoints,
    machines,
    rentals,
    limits,
    asking,
    departures,
    isSweepSpent: sweep => sweeps.isSpent(sweep),
    mayHaveCost,
  })

  async function dismiss(run: Run): Promise<void> {
    if (!isWorker(run)) for (const other of nodes.of(run)) if (other.id !== run.id) await dismiss(other)
    const programIds = programsOf(run)
    await runs.remove(run.id)
    await Promise.all(programIds.map(outputs.delete))
    notifications.withdraw(alertId(account, run))
    void inside(run, async connection => {
      for (const program of programIds) await markRun(connection, clock, program, 'remove')
    }).catch(() => undefined)
  }

  /** Never rejects. */
  async function endUnheard(run: Run, program: string): Promise<void> {
    await inside(run, connection => endRun(connection, clock, program)).catch(() => undefined)
    await tellIfStale(run.id)
  }

  /** Whether its watchdog still has an outdated order to end the instance, which only the run remembers to correct. */
  function isThreatened({ id, instance = 0 }: Run): boolean {
    const { instances, watchdogs: there } = store.get().accounts[account] ?? {}
    return runs.find(id)?.watchdogStale === true && instances?.[instance] !== undefined && !!there?.[instance]
  }

  const { goOn, refuseIfBusy, refuseUnlessFailed } = goingOn
  const timed = createTimedRuns(context, runs)

  const newRuns = createNewRuns(context, {
    runs,
    machines,
    nodes,
    waiting,
    goingOn,
    limitsOf: run => sweeps.limitsOf(run),
    async makeRoom() {
      for (const old of surplusRuns(runs.all(), mostEnded)) if (!isThreatened(old)) await dismiss(old)
    },
    work: id => worker.wake(id),
    asking,
  })

  /** Whether State still has the rental that a run waited for: the page shows both together. */
  function isShown({ rental }: Run): boolean {
    return store.get().accounts[account]?.rentals[rental ?? ''] !== undefined
  }

  /** Lets its command save first, if it asked for that; a second request does not wait. */
  async function cancel(of: string): Promise<void> {
    const run = runs.get(of)
    if (run.givenUp || run.node || !asksForNotice(run)) return withdraw(of)
    await runs.intend(run.id, { givenUp: true })
    worker.hurry(run.id)
  }

  async function withdraw(of: string): Promise<void> {
    const named = runs.get(of)
    const run = nodes.of(named)[0] ?? named
    if (!run.project || (!isGoing(run) && run.step !== 'failed')) return
    const { id, instance, name } = run
    await runs.intend(id, { ...over(run, 'cancelled', now()), withdrawing: true, givenUp: undefined })
    const detail =
      instance === undefined
        ? 'The machine being rented for it will be destroyed.'
        : `#${instance} is destroyed.`
    activity.add({ account, instance, kind: 'user', text: `Gave up ${name}`, detail })
    notifications.withdraw(alertId(account, run))
    folders.drop(id)
    worker.hurry(id)
    for (const other of nodes.of(run)) worker.hurry(other.id)
  }

  async function retry(id: string, into: string | undefined): Promise<void> {
    const run = runs.get(id)
    if (isOfProject(run)) {
      if (run.node) throw new BerthError(severalMachines)
      const view = refuseUnlessFailed(run)
      await goOn(run, 'go on with', retried(run, view, `r${context.newId()}`))
      return
    }
    if (into !== undefined && hasUndownloadedResults(run)) {
      const changed = runs.update(id, { into, as: undefined })
      folders.drop(id)
      await changed
    }
    if (run.step === 'failed' && hasUndownloadedResults(run)) await runs.update(id, refetching(run, now()))
    worker.hurry(id)
  }

  return {
    ...newRuns,
    /** Throws `no_such_run`. */
    get: runs.get,
    /** Throws `project_busy` while a run or a sweep of the project is in progress. */
    refuseIfBusy,
    /** The runs of sweeps. */
    swept: {
      all: runs.all,
      /** Starts one on a machine that waits, or on one that is rented for it. Does nothing if it is there already. */
      async start(id: string, newRun: NewRun & Pick<Run, 'sweep'>, on: number | undefined): Promise<void> {
        if (runs.find(id)) worker.wake(id)
        else await newRuns.startOfProject(newRun, on, id)
      },
      cancel,
      /** Resolves once its command had its time before its machine is stopped. */
      beforeStop: ({ instance = 0 }: Pick<Run, 'instance'>) => beforeStops.ofInstance(instance),
      /** Stops one with its machine, which keeps its files. */
      async halt(id: string, problem: Problem): Promise<void> {
        const run = runs.get(id)
        if (!isGoing(run) || run.step === 'ending') return
        if (run.step === 'waiting') return cancel(id)
        await runs.intend(id, failed(run, problem, now()))
        folders.drop(id)
        worker.hurry(id)
      },
      /** Goes on with one that failed and still has its machine. */
      retry: (id: string): Promise<void> => retry(id, undefined),
      /** Removes one with its output. */
      remove: dismiss,
      refuseIfBusy,
    },
    waiting,
    async end(id: string): Promise<void> {
      const run = runs.get(id)
      const { step, program, project } = run
      if (run.givenUp) return withdraw(id)
      if (!project && (step === 'waiting' || (step === 'running' && !run.begun))) {
        await runs.update(id, { step: 'cancelled', endedAt: now() })
        runs.setProblem(id, undefined)
        worker.hurry(id)
        // Its command may have been started although the answer was lost.
        if (step === 'running' && program !== undefined) void endUnheard(run, program)
        return
      }
      if (step !== 'running' || program === undefined) return
      // One that was to move stays, and ends here.
      await runs.intend(id, { endedByUser: true, movingSince: undefined })
      if (asksForNotice(run)) {
        // A second request ends it at once.
        const ended = beforeStops.end(run)
        if (!run.told) {
          void ended.then(() => worker.hurry(id))
          return
        }
        await runs.update(id, { told: undefined })
      }
      const asked = await inside(run, connection => endRun(connection, clock, program))
      const view = viewOf(run.instance)
      if (asked === undefined && !(view && canGetIn(view))) {
        await runs.update(id, { endedByUser: undefined })
        throw new BerthError(commandNotReached)
      }
      worker.hurry(id)
    },
    /** Throws `too_late` while the earlier choice is being requested from the service. */
    async change(id: string, afterwards: RunAction): Promise<void> {
      const run = runs.get(id)
      if (!isGoing(run)) return
      if (moves.isEnding(id)) throw new BerthError(tooLate(run))
      await runs.update(id, { afterwards })
      worker.hurry(id)
      await tellIfStale(id)
    },
    /** Ends a project's run without its results, and destroys its machine, once its command had its time before that. */
    cancel,
    /** Continues a project's run on another machine, once its command was told. Throws `not_movable`. */
    async move(id: string): Promise<void> {
      await plannedMoves.ask(id)
      worker.hurry(id)
    },
    /** Downloads the results of a project's failed run again. Throws as `retry` does. */
    async fetch(id: string): Promise<void> {
      const run = runs.get(id)
      if (!isOfProject(run)) throw new BerthError(notFailed)
      const view = refuseUnlessFailed(run)
      if (!view) throw new BerthError(machineGone)
      await goOn(run, 'download the results of', { ...resumed(run, view), ...refetching(run, now()) })
    },
    /**
     * Continues from the step that failed. `into`: the folder of this machine to download to; the usual one if undefined.
     * Of a project it throws `not_failed`, `project_busy` or `no_such_instance`. A sweep starts those without a machine anew.
     */
    retry,
    async giveUpFetch(id: string): Promise<void> {
      const run = runs.get(id)
      const isLeft = run.step === 'failed' && run.failedAt === 'fetching'
      if (run.project || (run.step !== 'fetching' && !isLeft)) return
      await runs.update(id, { step: 'done', failedAt: undefined, problem: undefined })
      folders.drop(id)
      runs.setProblem(id, undefined)
      note(run, `Gave up downloading ${run.fetch} of ${run.name}`, 'The instance is left as it is.')
      worker.hurry(id)
      await tellIfStale(id)
    },
    async dismiss(id: string): Promise<void> {
      const run = runs.get(id)
      const isBusy = (one: Run) => isGoing(one) || one.leaving || one.withdrawing
      if (isBusy(run) || nodes.of(run).some(isBusy)) throw new BerthError(runGoing)
      await tellIfStale(id)
      if (isThreatened(run)) throw new BerthError(watchdogStale)
      await dismiss(run)
    },
    output(id: string, of: RunProgram = 'command'): Promise<RunOutput> {
      const run = runs.get(id)
      const program = of === 'setup' ? run.setupProgram : run.program
      return outputs.of(program ?? id)
    },
    /** The action that a limit may take without losing results that aren't downloaded yet; undefined for none. */
    allowedAction: (target: LimitTarget): LimitAction | undefined =>
      allowedAction(target, runs.all(), viewOf(target.instance), note),
    /** Resolves once the commands on an instance had their time before it is stopped. */
    beforeStop: beforeStops.ofInstance,
    /** The same for a stop by the user, whose second request does not wait. */
    beforeStopByUser: beforeStops.byUser,
    /** Called before an account is removed. */
    deleteOutputs: () => outputs.delete(),
    onPoll(poll: AccountPoll): void {
      waiting.onPoll(poll)
      for (const run of runs.all()) {
        if (run.watchdogStale) void tellIfStale(run.id)
        // A command that never began is shown with its rental only, so it goes with that.
        if (!isGoing(run) && run.instance === undefined && !run.project && !isShown(run)) void dismiss(run)
      }
      void timed.follow((newRun, id) => newRuns.startOfProject(newRun, undefined, id)).catch(() => undefined)
      work.onPoll(poll)
    },
    dueAt: work.dueAt,
    show(): void {
      waiting.show()
      runs.show()
    },
    async flush() {
      await Promise.all([worker.flush(), checkpoints.flush(), waiting.flush()])
      await runs.flush()
    },
  }
}
