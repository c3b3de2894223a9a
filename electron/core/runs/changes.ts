import type { InstanceView } from '#shared/instance/instance.ts'
import type { Problem } from '#shared/problem.ts'
import { resultsOf } from '#shared/project/bounds.ts'
import { leftFor } from '#shared/project/copy-first.ts'
import { resultsStayWords } from '#shared/project/handed-over.ts'
import type { Leave } from '../departures/record.ts'
import { isDeepEqual } from '../storage/store.ts'
import { watchdogOrder } from './decide.ts'
import { lostBy, lostCostBy, lostSince } from './lost-time.ts'
import { commandFailed, machineGone } from './messages.ts'
import {
  isOfProject,
  keepingFor,
  keptFrom,
  ownCostBy,
  type ProjectRun,
  type Run,
  runCostBy,
  wantsResults,
} from './model.ts'

/** Changed fields of a run; an undefined one is removed. */
export type RunChange = Partial<Run>

/** The run after a change, marked `watchdogStale` if its watchdog needs an update. */
export function withStaleWatchdog(before: Run, after: Run): Run {
  const heardOf = before.step !== 'waiting' && after.finalAction !== 'destroy'
  if (!heardOf || isDeepEqual(watchdogOrder(before), watchdogOrder(after))) return after
  return { ...after, watchdogStale: true }
}

/** Whether its machine is still to be stopped or destroyed: not where a command's was stopped meanwhile, or already. */
function mayEnd({ project, instance, afterwards, interrupted, finalAction }: Run): boolean {
  if (instance === undefined || afterwards === 'nothing') return false
  return project !== undefined || (!interrupted && finalAction === undefined)
}

/** The next step after its command ended, after its download, or when the user retries. `at`: epoch seconds. */
export function nextStep(run: Run, at: number): RunChange {
  const undone = { failedAt: undefined, problem: undefined }
  if (wantsResults(run) && !run.fetched) return { ...undone, step: 'fetching' }
  if (run.outcome) return failed(run, run.outcome.problem, at)
  return { ...undone, step: mayEnd(run) ? 'ending' : 'done' }
}

/**
 * The run once its command has ended: the machine of one that failed is stopped where it was to be destroyed. `lost`: why
 * there is no exit code.
 */
export function afterCommand(run: Run, code: number | undefined, at: number, lost?: Problem): RunChange {
  const isFine = code === undefined || code === 0 || run.endedByUser
  const problem = isFine ? lost : commandFailed(run, code)
  const change: RunChange = {
    code,
    outcome: problem && { failedAt: 'running', problem },
    afterwards: problem && run.afterwards === 'destroy' && !run.sweep ? 'stop' : run.afterwards,
    endedAt: run.project ? undefined : at,
    stuckSince: undefined,
  }
  return { ...change, ...nextStep({ ...run, ...change }, at) }
}

/**
 * Fails a run at its present step, or with the failure that its download was for. A machine that was to be stopped or
 * destroyed is stopped, so that only its disk costs and its files stay; that of a project is kept for a while.
 */
export function failed(run: Run, { code, message, advice }: Problem, at: number): RunChange {
  const { step, instance, outcome, afterwards } = run
  const wasEnding = step === 'ending' && run.problem !== undefined
  const isGone = code === machineGone.code
  const stops = !isGone && !wasEnding && mayEnd(run)
  const isOutcome = outcome?.problem.code === code
  // Nothing that a run of a sweep needs is on its machine, which is not kept then.
  const isLeft = run.sweep !== undefined && (isOutcome || code === 'setup_failed')
  return {
    step: stops ? 'ending' : 'failed',
    failedAt: outcome?.failedAt ?? step,
    problem:
      outcome && !isOutcome
        ? { ...outcome.problem, message: `${outcome.problem.message} ${message}` }
        : { code, message, advice: adviceTo(run, advice) },
    afterwards: stops && !isLeft ? 'stop' : afterwards,
    endedAt: run.project ? undefined : (run.endedAt ?? at),
    costThen: run.project && !isGone ? runCostBy(run, at) : undefined,
    ...(isOfProject(run) && instance !== undefined && !isLeft && !isGone
      ? keptFrom(keepingFor(run), at)
      : { keptUntil: undefined, remindAt: undefined }),
    stuckSince: undefined,
    changingSince: undefined,
    told: undefined,
  }
}

/** What to do after a failure: one that is run again begins without the results that are here. */
function adviceTo(
  { node, project, sweep, downloadResult }: Run,
  advice: string | undefined,
): string | undefined {
  const own = node ? forSeveral(advice) : advice
  if (!own?.startsWith('Run it again') || own.includes('.berthignore') || !project || sweep) return own
  return [own, ...resultsStayWords(downloadResult?.files ?? 0, project.spec)].join(' ')
}

/** The advice to a run on several machines, of which the others are gone, so that it can't be resumed. */
function forSeveral(advice: string | undefined): string | undefined {
  const after = advice?.replace(', then resume.', ', then run it again.')
  return after?.includes('Resume') ? 'Run it again.' : after
}

/**
 * What a poll shows of the machine of a project's run that is not over, or failed. `view`: undefined where the poll lacks it;
 * `isGone`: once that is certain, from when on it counts no more. One that returns keeps its files as if the run failed now.
 */
export function seenMachine(
  run: ProjectRun,
  view: InstanceView | undefined,
  { isGone, at }: { isGone: boolean; at: number },
): RunChange {
  const { step, spent, costThen, endedAt, finalAction } = run
  if (endedAt !== undefined) return {}
  if (!view) {
    const counts = isGone && spent !== undefined && spent.perHour > 0
    return counts ? { spent: { micros: ownCostBy({ ...run, spentBefore: 0 }, at), at, perHour: 0 } } : {}
  }
  const after = { spent: { ...view.spent } }
  if (step !== 'failed' || costThen !== undefined || finalAction === 'destroy') return after
  return { ...after, costThen: runCostBy({ ...run, ...after }, at), ...keptFrom(keepingFor(run), at) }
}

/** Leaves the instance of a command as it is, since its folder is only there. */
export function keptOnMachine({ code, message, advice }: Problem): RunChange {
  return {
    step: 'failed',
    failedAt: 'fetching',
    problem: { code, message, advice },
    changingSince: undefined,
  }
}

/** Downloads the results of a failed run again, which then fails as before. */
export function refetching(run: Run, at: number): RunChange {
  const { failedAt = 'fetching', problem, outcome } = run
  const isOther = problem !== undefined && failedAt !== 'fetching'
  const change = { fetched: undefined, outcome: outcome ?? (isOther ? { failedAt, problem } : undefined) }
  return { ...change, ...nextStep({ ...run, ...change }, at) }
}

/** Fields that a project's run loses when it continues after a failure on its machine, which may have to be started. */
export function resumed({ project }: ProjectRun, machine: InstanceView | undefined): RunChange {
  return {
    failedAt: undefined,
    problem: undefined,
    keptUntil: undefined,
    remindAt: undefined,
    lastCall: undefined,
    told: undefined,
    afterwards: project.spec.after ?? 'destroy',
    finalAction: undefined,
    starting: machine && machine.state !== 'running' ? true : undefined,
  }
}

/** Fields of the current program that are cleared before the next one. */
export const nextProgram = {
  begun: undefined,
  outputBytes: 0,
  droppedBytes: 0,
  lastLine: '',
  progress: undefined,
  printed: undefined,
} satisfies RunChange

/**
 * Retries a project's failed run. It sends the folder again, which the user may have corrected; `rental` is for
 * one without a machine.
 */
export function retried(run: ProjectRun, machine: InstanceView | undefined, rental: string): RunChange {
  const { failedAt = 'waiting' } = run
  const step = failedAt === 'setup' || failedAt === 'running' ? 'sending' : failedAt
  const keepsOutput = step === 'fetching' || step === 'ending'
  return {
    ...resumed(run, machine),
    step,
    outcome: undefined,
    endedByUser: undefined,
    rental: step === 'waiting' ? rental : run.rental,
    seeking: undefined,
    ...(!keepsOutput && {
      ...nextProgram,
      code: undefined,
      fetched: undefined,
      retried: undefined,
      setupProgram: failedAt === 'setup' ? undefined : run.setupProgram,
      program: undefined,
    }),
  }
}

/** Seconds for which a machine goes on running that its user has a run leave: within them its files are taken. */
export const runsOnFor = 1800

/** How a machine is left that its user has the run leave. */
export interface PlannedMove {
  /** Whether no file of its results can be half. */
  whole: boolean
  /** Micro-dollars for as long as it may go on running, and for its disk then. */
  reserve: number
}

/** What a run leaves on a machine: the training since the last whole download of its results. */
function leaveOf(run: Run, instance: number, at: number, planned?: PlannedMove): Leave {
  const { project, program, place, spent } = run
  return {
    instance,
    since: at,
    until: at + leftFor(project?.spec ?? {}),
    seconds: lostSince(run, at),
    program,
    folder: place,
    paths: project ? resultsOf(project.spec) : [],
    before: spent ? runCostBy({ ...run, spentBefore: 0, leftCosts: {} }, at) : 0,
    ...(planned && { runsUntil: at + runsOnFor, whole: planned.whole }),
  }
}

/** Moves a project's run to another machine, and leaves the old one. */
export function movedToNewMachine(run: Run, rental: string, at: number, planned?: PlannedMove): RunChange {
  const { instance, leaving = [], moves = 0, project } = run
  return {
    ...nextProgram,
    // A command that the loss of its machine ended counts as not ended.
    code: undefined,
    outcome: undefined,
    ...(project && { afterwards: project.spec.after ?? 'destroy' }),
    spentBefore: ownCostBy(run, at),
    spent: undefined,
    step: 'waiting',
    rental,
    instance: undefined,
    leaving: instance === undefined ? leaving : [...leaving, leaveOf(run, instance, at, planned)],
    place: undefined,
    brought: undefined,
    copying: undefined,
    setupProgram: undefined,
    isSetUp: undefined,
    program: undefined,
    moves: run.reuses ? run.moves : moves + 1,
    lost: lostBy(run, at),
    lostCost: lostCostBy(run, at),
    begunAt: undefined,
    wholeAt: undefined,
    overdueAlerted: undefined,
    seenAt: undefined,
    paidPerHour: undefined,
    told: undefined,
    movingSince: undefined,
    reserved: planned ? (run.reserved ?? 0) + planned.reserve : run.reserved,
    retried: run.retried && { ...run.retried, before: run.retried.times, nextAt: undefined },
    reuses: undefined,
  }
}

/** A run that failed without a machine says, once, that one appeared later: its cost is no longer what it was then. */
export function cameLate({ step, instance, problem }: Run): RunChange {
  if (step !== 'failed' || instance !== undefined || !problem || problem.message.endsWith(lateWords))
    return {}
  return { problem: { ...problem, message: `${problem.message} ${lateWords}` } }
}
const lateWords = 'Then a machine appeared after all, which Berth destroys; its cost counts.'

/** After a reminder of a stopped machine, when the next one comes: that of a run that succeeded comes once. */
export function reminded(run: ProjectRun, at: number): RunChange {
  if (run.step === 'done') return { keptUntil: undefined }
  const keeping = keepingFor(run)
  const { keptUntil, remindAt } = keptFrom(keeping, at)
  // One that runs at its end is in use, and meets its end again.
  const isOver = run.keptUntil === undefined || at >= run.keptUntil
  return keeping.destroys && !isOver ? { remindAt } : { keptUntil, remindAt }
}

/** Ends a run; its own machine costs nothing more, unless it failed and keeps that. `at` in epoch seconds. */
export function over(run: Run, step: 'done' | 'failed' | 'cancelled', at: number): RunChange {
  if (step === 'failed' && run.finalAction !== 'destroy')
    return run.project ? { step, costThen: runCostBy(run, at) } : { step }
  if (!run.project) return { step, endedAt: run.endedAt ?? at }
  return { step, endedAt: at, spentBefore: ownCostBy(run, at), spent: undefined }
}

/** Ends a run whose machine takes the next one. `at` in epoch seconds. */
export function released(run: Run, at: number): RunChange {
  const change = over(run, 'done', at)
  return run.problem
    ? { ...change, step: 'failed', keptUntil: undefined, remindAt: undefined, instance: undefined }
    : change
}
