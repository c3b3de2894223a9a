import { join } from 'node:path'
import type { LimitAction } from '#contract/automation/limit.ts'
import { isGoing, type RunAction, type RunProgram } from '#contract/automation/run.ts'
import { BerthError } from '#contract/problem.ts'
import { boundOf } from '#contract/project/bounds.ts'
import { canGetIn, spentBy } from '#contract/reading.ts'
import { endRun, markRun } from '#ssh/runs/runs.ts'
import type { AccountContext, Automation } from '../account-context.ts'
import type { StoredLimits } from '../limits/model.ts'
import type { LimitTarget } from '../limits/targets.ts'
import type { Watchdogs } from '../limits/watchdog.ts'
import { rentedWith } from '../renting/rental.ts'
import type { Rentals } from '../renting/rentals.ts'
import { createLoops } from '../storage/loops.ts'
import { alertId, runAlertsOf } from './alerts.ts'
import { afresh, againFromFailure, failed, fetchingAgain, over } from './changes.ts'
import { machineGone, spares } from './decide.ts'
import { createRunFolders, type RunProjects } from './folders.ts'
import { createGoingOn, notFailed } from './go-on.ts'
import { createGroups, type GroupRuns, type Groups, openStoredGroups } from './groups.ts'
import { createRunMachines } from './machine.ts'
import { isOfProject, isUnsafe, isWorker, programsOf, type Run } from './model.ts'
import { createMoves } from './moves.ts'
import { createRunNodes } from './nodes.ts'
import { createOutputs, type RunOutput } from './output.ts'
import { createPrograms } from './programs.ts'
import { openStoredRuns, surplusRuns } from './stored-runs.ts'
import { openWaitingMachines, type WaitingMachines } from './warm.ts'
import { createRunWatchdog } from './watchdog.ts'
import { createRunWork, type RunWork } from './work.ts'

/**
 * The runs of one account, of commands and of projects: starts them, follows them, and carries out the choice for their
 * end.
 */
export interface Runs extends Required<Pick<Automation, 'onPoll' | 'show' | 'flush' | 'dueAt'>> {
  /** Resolves with its id once it is on disk; the run then continues automatically. */
  start(newRun: NewRun): Promise<string>
  /** The same on several machines, for each of which there is a run; resolves with that of the first one. */
  startNodes(newRun: NewRun, count: number): Promise<string>
  /** Throws `no_such_run`. */
  get(id: string): Run
  /** Throws `project_busy` while a run or a sweep of the project is in progress. */
  refuseIfBusy(project: string): void
  readonly groups: Groups
  readonly waiting: WaitingMachines
  /** Starts a run of a project on a machine that waits, or on one that is rented for it. Resolves as `start` does. */
  startOfProject(newRun: NewRun, on: number | undefined): Promise<string>
  /**
   * The same for an instance that is yet to be rented: the run is on disk before `rent` is called, and is removed again
   * if `rent` rejects. Resolves with what `rent` does.
   */
  startOn<Got>(newRun: NewRun, rent: () => Promise<Got>): Promise<Got>
  /** Removes the run that waits for a rental which never began. */
  forget(rental: string): Promise<void>
  end(id: string): Promise<void>
  /** Throws `too_late` while the earlier choice is being requested from the service. */
  change(id: string, afterwards: RunAction): Promise<void>
  /** Ends a project's run without its results, and destroys its machine. */
  cancel(id: string): Promise<void>
  /** Downloads the results of a project's failed run again. Throws as `retry` does. */
  fetch(id: string): Promise<void>
  /**
   * Continues from the step that failed. `into`: the folder of this machine to download to; the usual one if undefined.
   * Of a project it throws `not_failed`, `project_busy` or `no_such_instance`.
   */
  retry(id: string, into: string | undefined): Promise<void>
  giveUpFetch(id: string): Promise<void>
  dismiss(id: string): Promise<void>
  output(id: string, of?: RunProgram): Promise<RunOutput>
  /** The action that a limit may take without losing results that aren't downloaded yet; undefined for none. */
  spares(target: LimitTarget): LimitAction | undefined
  /** Called before an account is removed. */
  deleteOutputs(): Promise<void>
}

export type NewRun = Pick<
  Run,
  | 'instance'
  | 'rental'
  | 'rentedAgain'
  | 'name'
  | 'command'
  | 'project'
  | 'fetch'
  | 'into'
  | 'afterwards'
  | 'watchdog'
  | 'stuckAfter'
  | 'afterwardsIfStuck'
  | 'keep'
>

/** A new run, also of a sweep or on a machine that waited. */
type AddedRun = NewRun &
  Pick<Run, 'node' | 'group' | 'into' | 'reuses' | 'gpu' | 'most' | 'spentBefore' | 'spent'>

/** Dependencies of runs, besides the account. */
export interface RunServiceParts {
  watchdogs: Watchdogs
  rentals: Pick<Rentals, 'find' | 'cancel' | 'ofInstance'>
  limits: Pick<StoredLimits, 'all' | 'put' | 'forget'>
  projects: RunProjects
}

/** Seconds for which a machine waits for the next run of its sweep, as Berth may end between two. */
const betweenRuns = 900
/** How many ended runs are kept. */
const mostEnded = 200

export async function openRuns(
  context: AccountContext,
  { watchdogs, rentals, limits, projects }: RunServiceParts,
): Promise<Runs> {
  const { account, store, machine, files, activity, notifications, now } = context
  const { clock } = machine
  const groupList = await openStoredGroups(context, () => runs.all())
  const runs = await openStoredRuns(context, group => groupList.find(group)?.project)
  const outputs = createOutputs(files, `${context.folder}/runs`, runs)
  const alerts = runAlertsOf(context)
  const { note } = alerts
  const machines = createRunMachines(context)
  const { inside, viewOf } = machines
  const watchdog = createRunWatchdog(context, { watchdogs, runs, inside, note })
  const { tellIfStale } = watchdog
  const folders = createRunFolders(context, {
    runs,
    machines,
    watchdog,
    alerts,
    projects,
    settingOf: run => groups.settingOf(run),
  })
  const loops = createLoops(clock, context.ending, id => work.advance(id))
  const checkpoints = createLoops(clock, context.ending, id => work.checkpoint(id))
  const programs = createPrograms(context, {
    runs,
    machines,
    watchdog,
    alerts,
    rentedWith: (instance = 0) => rentedWith(rentals.ofInstance(instance)?.rental, context.record(instance)),
    outputOf: outputs.of,
    nodeCommand: run => nodes.prepare(run),
    folders,
    until: loops.until,
  })
  const waiting = await openWaitingMachines(context, { runs, machines, limits, watchdogs, note })
  /** Instances that certainly no longer exist. */
  const gone = new Set<number>()
  const nodes = createRunNodes(context, { runs, machines, projects })
  const moves = createMoves(context, {
    nodes,
    isGone: instance => gone.has(instance),
    waiting,
    stopsOf: run => groups.stopsOf(run),
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
    loops,
    checkpoints,
    machines,
    rentals,
    limits,
    asking,
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

  async function add(id: string, newRun: AddedRun): Promise<void> {
    await addAll([{ ...newRun, id }])
  }

  async function addAll(added: readonly (AddedRun & Pick<Run, 'id'>)[]): Promise<void> {
    for (const old of surplusRuns(runs.all(), mostEnded)) if (!isThreatened(old)) await dismiss(old)
    await runs.addAll(added.map(begun))
  }

  function begun(added: AddedRun & Pick<Run, 'id'>): Run {
    const starts = viewOf(added.instance)?.state === 'running'
    return {
      ...added,
      step: added.reuses ? 'sending' : starts ? 'running' : 'waiting',
      createdAt: now(),
      // That of a project follows with its command.
      program: added.project ? undefined : added.id,
      seen: 0,
      dropped: 0,
      lastLine: '',
    }
  }

  const goingOn = createGoingOn(context, {
    runs,
    machines,
    limits,
    outputs,
    isSweeping: (project, except) => groups.isBusy(project, except),
    stopsOf: run => groups.stopsOf(run),
    restart: loops.restart,
  })
  const { goOn, refuseIfBusy, refuseUnlessFailed } = goingOn

  /** Starts a project's run: on a machine that waits, in the place of the other run's limits, or on one to be rented. */
  async function startOfProject(id: string, newRun: NewRun & Pick<Run, 'group'>, on: number | undefined) {
    const there = viewOf(on)
    if (!there) {
      await add(id, { ...newRun, rental: `r${context.newId()}` })
      return loops.work(id)
    }
    const { gpu, pricePerHour } = there
    const stops = newRun.project?.stops ?? []
    const bound = newRun.group ? undefined : boundOf(stops, pricePerHour)
    await add(id, {
      ...newRun,
      instance: there.id,
      reuses: true,
      gpu: gpu && { name: gpu.name, count: gpu.count },
      most: bound,
      spentBefore: -spentBy(there, now()),
      spent: { ...there.spent },
    })
    const run = runs.get(id)
    if (isOfProject(run)) await goingOn.limitReused(there, groups.stopsOf(run))
    // Its watchdog learns of both with that.
    await waiting.take(there.id)
    loops.work(id)
  }

  /** Whether State still has the rental that a run waited for: the page shows both together. */
  function isShown({ rental }: Run): boolean {
    return store.get().accounts[account]?.rentals[rental ?? ''] !== undefined
  }

  const groupRuns: GroupRuns = {
    all: runs.all,
    async start(id, group, { index, on }) {
      if (runs.find(id)) return loops.work(id)
      const { project, settings, attempts } = group
      const { spec } = project
      const place = { id: group.id, index, attempt: attempts[index] ?? 0 }
      const number = String(index + 1).padStart(String(settings.length).length, '0')
      const newRun = {
        name: `${group.name} ${number}`,
        command: spec.run,
        project,
        group: place,
        into: join(project.folder, group.results, number),
        afterwards: spec.after ?? ('destroy' as const),
        keep: group.keep ?? betweenRuns,
        watchdog: false,
        stuckAfter: 0,
        afterwardsIfStuck: false,
      }
      await startOfProject(id, newRun, on)
    },
    cancel: id => cancel(id),
    async halt(id, problem) {
      const run = runs.get(id)
      if (!isGoing(run) || run.step === 'ending') return
      if (run.step === 'waiting') return cancel(id)
      await runs.intend(id, failed(run, problem, now()))
      folders.drop(id)
      loops.restart(id)
    },
    retry: id => retry(id, undefined),
    remove: dismiss,
    refuseIfBusy,
  }
  const groups: Groups = createGroups(context, {
    groups: groupList,
    runs: groupRuns,
    waiting,
    machines,
    rentals,
    limits,
    watchdogs,
  })

  async function cancel(of: string): Promise<void> {
    const named = runs.get(of)
    const run = nodes.of(named)[0] ?? named
    if (!run.project || (!isGoing(run) && run.step !== 'failed')) return
    const { id, instance, name } = run
    await runs.intend(id, { ...over(run, 'cancelled', now()), withdrawing: true })
    const detail =
      instance === undefined
        ? 'The machine being rented for it will be destroyed.'
        : `#${instance} is destroyed.`
    activity.add({ account, instance, kind: 'user', text: `Gave up ${name}`, detail })
    notifications.withdraw(alertId(account, run))
    folders.drop(id)
    loops.restart(id)
    for (const other of nodes.of(run)) loops.restart(other.id)
  }

  async function retry(id: string, into: string | undefined): Promise<void> {
    const run = runs.get(id)
    if (isOfProject(run)) {
      if (run.node) throw new BerthError(severalMachines)
      const view = refuseUnlessFailed(run)
      if (run.group && !view) return groups.retry(run.group.id, run.group.index)
      await goOn(run, 'go on with', againFromFailure(run, view, `r${context.newId()}`))
      return
    }
    if (into !== undefined && isUnsafe(run)) {
      const changed = runs.update(id, { into, as: undefined })
      folders.drop(id)
      await changed
    }
    if (run.step === 'failed' && isUnsafe(run)) await runs.update(id, fetchingAgain(run, now()))
    loops.restart(id)
  }

  return {
    get: runs.get,
    refuseIfBusy,
    groups,
    waiting,
    async start(newRun) {
      const id = `x${context.newId()}`
      await add(id, newRun)
      loops.work(id)
      return id
    },
    async startOfProject(newRun, on) {
      const id = `x${context.newId()}`
      await startOfProject(id, newRun, on)
      return id
    },
    async startNodes(newRun, count) {
      const id = `x${context.newId()}`
      // All at once: one that a poll meets without the others would end, or wait for them forever.
      await addAll(
        Array.from({ length: count }, (_, rank) => ({
          ...newRun,
          id: rank === 0 ? id : `x${context.newId()}`,
          keep: undefined,
          rental: `r${context.newId()}`,
          node: { of: id, rank, count },
        })),
      )
      for (const run of nodes.of(runs.get(id))) loops.work(run.id)
      return id
    },
    async startOn(newRun, rent) {
      const id = `x${context.newId()}`
      asking.add(id)
      try {
        await add(id, newRun)
        return await rent()
      } catch (error) {
        await runs.remove(id)
        throw error
      } finally {
        asking.delete(id)
      }
    },
    async forget(rental) {
      const waiting = runs.all().filter(run => run.rental === rental && run.step === 'waiting')
      await Promise.all(waiting.map(({ id }) => runs.remove(id)))
    },
    async end(id) {
      const run = runs.get(id)
      const { step, program, project } = run
      if (!project && (step === 'waiting' || (step === 'running' && !run.begun))) {
        await runs.update(id, { step: 'cancelled', endedAt: now() })
        runs.setProblem(id, undefined)
        loops.wake(id)
        // Its command may have been started although the answer was lost.
        if (step === 'running' && program !== undefined) void endUnheard(run, program)
        return
      }
      if (step !== 'running' || program === undefined) return
      await runs.intend(id, { endedByUser: true })
      const asked = await inside(run, connection => endRun(connection, clock, program))
      const view = viewOf(run.instance)
      if (asked === undefined && !(view && canGetIn(view))) {
        await runs.update(id, { endedByUser: undefined })
        throw new BerthError(notReached)
      }
      loops.wake(id)
    },
    async change(id, afterwards) {
      const run = runs.get(id)
      if (!isGoing(run)) return
      if (moves.isEnding(id)) throw new BerthError(tooLate(run))
      await runs.update(id, { afterwards })
      loops.wake(id)
      await tellIfStale(id)
    },
    cancel,
    async fetch(id) {
      const run = runs.get(id)
      if (!isOfProject(run)) throw new BerthError(notFailed)
      const view = refuseUnlessFailed(run)
      if (!view) throw new BerthError(machineGone)
      await goOn(run, 'download the results of', { ...afresh(run, view), ...fetchingAgain(run, now()) })
    },
    retry,
    async giveUpFetch(id) {
      const run = runs.get(id)
      const isLeft = run.step === 'failed' && run.failedAt === 'fetching'
      if (run.project || (run.step !== 'fetching' && !isLeft)) return
      await runs.update(id, { step: 'done', failedAt: undefined, problem: undefined })
      folders.drop(id)
      runs.setProblem(id, undefined)
      note(run, `Gave up downloading ${run.fetch} of ${run.name}`, 'The instance is left as it is.')
      loops.wake(id)
      await tellIfStale(id)
    },
    async dismiss(id) {
      const run = runs.get(id)
      const isBusy = (one: Run) => isGoing(one) || one.leaving || one.withdrawing
      if (isBusy(run) || nodes.of(run).some(isBusy)) throw new BerthError(stillGoing)
      await tellIfStale(id)
      if (isThreatened(run)) throw new BerthError(watchdogStale)
      await dismiss(run)
    },
    output(id, of = 'command') {
      const run = runs.get(id)
      const program = of === 'setup' ? run.setupProgram : run.program
      return outputs.of(program ?? id)
    },
    spares: target => spares(target, runs.all(), viewOf(target.instance), note),
    deleteOutputs: () => outputs.delete(),
    onPoll(poll) {
      waiting.onPoll(poll)
      for (const run of runs.all()) {
        if (run.watchdogStale) void tellIfStale(run.id)
        // A command that never began is shown with its rental only, so it goes with that.
        if (!isGoing(run) && run.instance === undefined && !run.project && !isShown(run)) void dismiss(run)
      }
      work.onPoll(poll)
      groups.onPoll(poll)
    },
    dueAt: after => Math.min(work.dueAt(after), groups.dueAt(after)),
    show() {
      waiting.show()
      runs.show()
      groups.show()
    },
    async flush() {
      await Promise.all([loops.rest(), checkpoints.rest(), groups.flush(), waiting.flush()])
      await runs.flush()
    },
  }
}

function tooLate({ afterwards }: Run) {
  return {
    code: 'too_late',
    message: `Berth is already asking the service to ${afterwards} the instance.`,
    advice: afterwards === 'stop' ? 'Start it again if you want it to run.' : 'That can’t be changed now.',
  }
}
const notReached = {
  code: 'not_running',
  message: 'Its instance isn’t running, so Berth can’t reach the command.',
}
const stillGoing = {
  code: 'still_running',
  message: 'It’s still running.',
  advice: 'End it first, or wait until it ends.',
}
const severalMachines = {
  code: 'not_failed',
  message: 'It ran on several machines, of which the others are gone.',
  advice: 'Run it again as it was: that rents all of them.',
}
const watchdogStale = {
  code: 'watchdog_stale',
  message: 'The watchdog on its instance doesn’t know yet that it should leave it running.',
  advice: 'Berth tries again at every poll. Start the instance if it is stopped, or remove its watchdog.',
}
