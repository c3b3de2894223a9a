import type { LimitAction } from '#shared/automation/limit.ts'
import { isGoing, type RunStep } from '#shared/automation/run.ts'
import { canGetIn } from '#shared/derived.ts'
import type { InstanceState, InstanceView } from '#shared/instance/instance.ts'
import { runOutbid } from '#shared/instance/outbid-words.ts'
import { hasTrait } from '#shared/instance/state-traits.ts'
import type { Problem } from '#shared/problem.ts'
import { noticeCost } from '#shared/project/before-stop.ts'
import { dearestOf } from '#shared/project/bounds.ts'
import { latestStart } from '#shared/project/start-time.ts'
import { checkpointEvery, storeOf } from '#shared/project/store.ts'
import type { WatchdogOrder } from '#ssh/runs/runs.ts'
import { longestAfter, retryPause } from '../engine/worker.ts'
import { idleBelow } from '../instances/instance-state.ts'
import type { LimitTarget } from '../limits/targets.ts'
import { lastingErrors, pauseWhileChanging } from './left-behind.ts'
import { awayUntil } from './lost-time.ts'
import {
  besideCommand,
  instanceGone,
  machineCrashed,
  machineDestroyed,
  machineExited,
  machineGone,
  noMachineRented,
  rentalFailed,
  resultsThere,
  stoppedMachine,
  unclearRental,
  usedUp,
} from './messages.ts'
import {
  canReuseMachine,
  hasUndownloadedResults,
  isOfProject,
  isOnlyToFetch,
  isToldOfStop,
  isWorker,
  keepingFor,
  type ProjectRun,
  type Run,
  runCostBy,
} from './model.ts'
import { type NodeMove, type NodeSnapshot, nodeHold, nodeMove } from './node-decide.ts'
import { seekingMove } from './seeking.ts'

/** A run's inputs, as of a poll. */
export interface RunSnapshot extends NodeSnapshot {
  /** The rental that it waits for; `instance` once that is ready; `unclear`: which it may be, and the user has to say. */
  awaited: { step: string; instance?: number; problem?: Problem; unclear?: readonly number[] } | undefined
  /** Why a limit stopped the machine, a clause; undefined where none did. */
  limit: string | undefined
  /** Whether the user stopped the machine, in Berth. */
  isStoppedByUser?: boolean
  /** Whether it has cost all that it may, the disk of its stopped machine included. */
  isSpent?: boolean
  now: number
}

export type RunMove =
  | { do: 'wait' }
  /** Tells its command of the end, after which the run is given up. */
  | { do: 'cancel' }
  /** Rents a machine. */
  | { do: 'rent' }
  | { do: 'start' }
  | { do: 'send' }
  /** Starts its set-up or command, or follows it. */
  | { do: 'program' }
  | { do: 'fetch' }
  /** Stops or destroys its machine. */
  | { do: 'end' }
  /** Lets its machine wait for the next run. */
  | { do: 'keep' }
  /** Reminds the user of a stopped machine, or destroys that of a failed run as agreed: `isSpent` for its cost, else for its time. */
  | { do: 'expire'; destroys: boolean; isSpent?: true }
  /** Begins a run whose time has come, or puts it off until the next day. */
  | { do: 'begin' | 'postpone' }
  /** Searches the market again for a run that waits for an offer. */
  | { do: 'seek' }
  /** Continues on another machine, which is still to be found. */
  | { do: 'move' }
  | NodeMove
  | { do: 'step'; step: RunStep; instance?: number; finalAction?: 'destroy' }

/** A run's next move. Each may be repeated after a kill. */
export function nextRunMove(run: Run, snapshot: RunSnapshot): RunMove {
  const { step } = run
  if (step === 'cancelled') return { do: 'wait' }
  if (step === 'done') return isOfProject(run) ? leftStopped(run, snapshot) : { do: 'wait' }
  if (run.givenUp && step !== 'failed') return { do: 'cancel' }
  const move = nodeMove(run, snapshot)
  if (move) return move
  if (step === 'failed') return isOfProject(run) ? kept(run, snapshot) : { do: 'wait' }
  if (step === 'ending') return ending(run, snapshot)
  if (step === 'waiting') {
    const rents = isOfProject(run) ? renting(run, snapshot) : placing(run, snapshot)
    return rents.do === 'fail' ? { ...rents, problem: besideCommand(rents.problem, run) } : rents
  }
  const machineMove = isOfProject(run) ? moveForMachine(run, snapshot) : moveForInstance(run, snapshot)
  if (machineMove?.do === 'fail' && isOnlyToFetch(run) && snapshot.instance !== 'gone')
    return { ...machineMove, problem: resultsThere(machineMove.problem) }
  if (machineMove) return machineMove
  if (run.movingSince !== undefined && step === 'running' && run.begun) return { do: 'move' }
  if (isToldOfStop(run, snapshot.now)) return { do: 'wait' }
  const hold = nodeHold(run, snapshot)
  if (hold) return hold
  if (step === 'sending') return { do: 'send' }
  if (step === 'fetching') return { do: 'fetch' }
  if (step === 'setup' && (run.isSetUp || run.project?.spec.setup === undefined))
    return { do: 'step', step: 'running' }
  return typeof snapshot.instance === 'object' && canGetIn(snapshot.instance)
    ? { do: 'program' }
    : { do: 'wait' }
}

function renting(run: ProjectRun, { awaited, now }: RunSnapshot): RunMove {
  const { spec, price } = run.project
  const least = 2 * noticeCost(spec.before_stop, dearestOf(spec, price))
  const { most = Number.POSITIVE_INFINITY, reserved = 0 } = run
  const cost = runCostBy(run, now)
  if (run.startsAt !== undefined && !awaited) {
    if (now < run.startsAt) return { do: 'wait' }
    return { do: now < run.startsAt + latestStart ? 'begin' : 'postpone' }
  }
  if (!awaited)
    return cost + reserved + least >= most ? { do: 'fail', problem: usedUp(cost, most) } : { do: 'rent' }
  const { step, instance, problem, unclear } = awaited
  if (unclear) return { do: 'fail', problem: unclearRental(unclear) }
  if (step === 'ready' && instance !== undefined) return { do: 'step', step: 'sending', instance }
  if (step === 'failed')
    return seekingMove(run, now, problem?.code) ?? { do: 'fail', problem: problem ?? noMachineRented }
  return step === 'cancelled' ? { do: 'fail', problem: noMachineRented } : { do: 'wait' }
}

/** The move of a command that waits for its instance, or for the rental of one. */
function placing(run: Run, { awaited, instance }: RunSnapshot): RunMove {
  if (typeof instance === 'object' && instance.state === 'running')
    return { do: 'step', step: 'running', instance: instance.id }
  if (run.instance !== undefined)
    return instance === 'gone' ? { do: 'fail', problem: instanceGone } : { do: 'wait' }
  const { step, problem } = awaited ?? { step: 'failed' }
  if (step !== 'failed' && step !== 'cancelled') return { do: 'wait' }
  return { do: 'fail', problem: rentalFailed(problem?.message), quiet: step === 'cancelled' }
}

/** The move for which the instance of a command is the reason; undefined where there is none. */
function moveForInstance(run: Run, { instance }: RunSnapshot): RunMove | undefined {
  // The watchdog does not destroy an instance with a folder to download, so someone else did, and the folder is lost.
  if (instance === 'gone')
    return watchdogOrder(run)?.action === 'destroy'
      ? { do: 'step', step: 'done', finalAction: 'destroy' }
      : { do: 'fail', problem: instanceGone }
  return instance === undefined ? { do: 'wait' } : undefined
}

/** The move that a project's machine needs first; undefined where it runs. */
function moveForMachine(run: ProjectRun, snapshot: RunSnapshot): RunMove | undefined {
  const { instance } = snapshot
  if (instance === undefined) return { do: 'wait' }
  const isAllowed = mayMoveOn(run) && !run.endedByUser
  if (instance === 'gone') {
    // The user meant the run, too: another machine would be a surprise.
    if (snapshot.isStoppedByUser && !run.reuses) return { do: 'fail', problem: machineDestroyed }
    return isAllowed ? { do: 'move' } : { do: 'fail', problem: machineGone }
  }
  if (instance.state === 'running') return undefined
  // What has ended well isn't run again while its results are there.
  const mayMove = isAllowed && !isOnlyToFetch(run)
  // It ended before the run began there, so the run rents one.
  if (run.reuses && hasTrait(instance.state, 'over')) return { do: 'move' }
  if (instance.state === 'outbid') return mayMove ? { do: 'move' } : { do: 'fail', problem: runOutbid }
  if (run.starting && hasTrait(instance.state, 'halted')) return { do: 'start' }
  const isStopped =
    instance.state === 'stopped' || (instance.state === 'ended' && snapshot.limit !== undefined)
  if (isStopped) return { do: 'fail', problem: stoppedMachine(run, snapshot) }
  if (instance.state === 'ended') return { do: 'fail', problem: machineExited }
  // Where its command never ran, another machine would crash as well: by the image.
  if (instance.state === 'crashed' || instance.state === 'unstartable')
    return mayMove && run.begunOn === instance.id ? { do: 'move' } : { do: 'fail', problem: machineCrashed }
  const movesAt = mayMove ? awayUntil(instance) : undefined
  return movesAt !== undefined && snapshot.now >= movesAt ? { do: 'move' } : { do: 'wait' }
}

/** Whether the run may continue on another machine: as its file or its user says, or since it has not begun on this one. */
export function mayMoveOn({ project, reuses, movingSince, moves = 0 }: Run): boolean {
  return reuses === true || movingSince !== undefined || moves < (project?.spec.outbid?.elsewhere ?? 0)
}

/** Whether a run leaves a machine that it can't enter, where its command has not begun. */
export function leavesUnreached(run: Run, { code }: Pick<Problem, 'code'>): boolean {
  const isBefore = run.step === 'sending' || run.step === 'setup'
  return code.startsWith('ssh_') && isBefore && run.problem === undefined && mayMoveOn(run)
}

function ending(run: Run, { instance }: RunSnapshot): RunMove {
  if (run.instance === undefined || run.afterwards === 'nothing')
    return { do: 'step', step: run.problem ? 'failed' : 'done' }
  if (canReuseMachine(run) && typeof instance === 'object' && instance.state === 'running')
    return { do: 'keep' }
  if (instance !== 'gone' || isOfProject(run)) return { do: 'end' }
  return run.afterwards === 'destroy'
    ? { do: 'step', step: 'done', finalAction: 'destroy' }
    : { do: 'fail', problem: instanceGone }
}

/** Seconds by which a reminder is late that Berth slept through. */
const missedBy = 600

/**
 * The machine of a failed run is kept for the agreed time, and never beyond what the run may cost. Where a sleep took the
 * reminder as well, its user hears of it an hour before. One that runs is in use, and is not destroyed.
 */
function kept(run: ProjectRun, { instance, now, isSpent = false }: RunSnapshot): RunMove {
  const { keptUntil = Number.POSITIVE_INFINITY, remindAt = Number.POSITIVE_INFINITY, lastCall = 0 } = run
  if (instance === undefined || instance === 'gone') return { do: 'wait' }
  if (isSpent && instance.state !== 'running') {
    const reminder = keepingFor(run).destroys ? remindAt : keptUntil
    const isUntold = !lastCall && now >= reminder + missedBy
    return now < lastCall ? { do: 'wait' } : { do: 'expire', destroys: !isUntold, isSpent: true }
  }
  if (now >= keptUntil)
    return { do: 'expire', destroys: keepingFor(run).destroys && hasTrait(instance.state, 'over') }
  return now >= remindAt ? { do: 'expire', destroys: false } : { do: 'wait' }
}

/** A machine that was stopped after a run that succeeded costs its disk until the user destroys it. */
function leftStopped({ keptUntil }: Run, { instance, now }: RunSnapshot): RunMove {
  const isThere = typeof instance === 'object' && hasTrait(instance.state, 'over')
  const isDue = isThere && keptUntil !== undefined && now >= keptUntil
  return isDue ? { do: 'expire', destroys: false } : { do: 'wait' }
}

/**
 * Failures in a row after which a run fails, also with the same question where its program may run, and where its
 * machine cannot be reached: after about half an hour.
 */
const most = { failures: 8, unreachable: 35, same: 3, questions: 4 }
/** Errors of the machine itself, which come again each time unless someone mends it. */
const lasting = new Set(['not_prepared', 'sync_failed', 'shell_replaced', 'no_address'])
/** Questions that only the user can answer, who may not be there: a run fails with them. */
const questions = new Set([
  'host_key_changed',
  'host_key_known_elsewhere',
  'known_hosts_damaged',
  'key_locked',
  'key_unusable',
  'key_missing',
])
/** Errors that no retry solves. */
const hopeless = new Set([
  ...lastingErrors,
  'ignore_file',
  'disk_full',
  'secret_missing',
  'cloud_copy_failed',
  'no_cluster',
  'no_network',
])

/** The service's refusals of a key: nothing is rented yet, and only the user can change that. */
const refusals = new Set(['unauthorized', 'forbidden', 'tfa_needed'])

/** A failed move, after `fails` earlier failures in a row; `isOnline`: whether the service answers. */
export interface FailedMove {
  run: Pick<Run, 'step' | 'project' | 'begun' | 'problem' | 'changingSince'>
  move: RunMove['do']
  fails: number
  /** Failures in a row with this very problem, this one included. */
  same: number
  isOnline: boolean
  /** Epoch seconds of this computer. */
  clock: number
}

/** The number of failures in a row after another one: without a network it stays below what fails a run. */
export function failsAfter(fails: number, isOnline: boolean): number {
  return isOnline ? fails + 1 : Math.min(fails + 1, longestAfter)
}

/**
 * Milliseconds before the retry; undefined if the run fails instead. A command that runs is only given up for a question,
 * the end of a failed run's machine never; nothing is without a network.
 */
export function pauseAfter(
  { code }: Pick<Problem, 'code'>,
  { run, move, fails, same, isOnline, clock }: FailedMove,
): number | undefined {
  const pause = retryPause(fails)
  if (code === 'results_changing') return pauseWhileChanging(run.changingSince, clock, pause)
  if (questions.has(code) && isGoing(run) && isOnline)
    return run.begun && same < most.questions ? pause : undefined
  if (move === 'program') return code === 'disk_full' && !run.begun ? undefined : pause
  if (!isOnline || !isGoing(run) || (move === 'end' && (!run.project || run.problem))) return pause
  // Only a project's machine is stopped where it cannot be reached: the user chose that of a command.
  const isUnreached = code.startsWith('ssh_') || code === machineGone.code
  if (isUnreached && !run.project) return pause
  const isOver =
    hopeless.has(code) ||
    (refusals.has(code) && run.step === 'waiting') ||
    (lasting.has(code) && same >= most.same) ||
    fails + 1 >= (code.startsWith('ssh_') ? most.unreachable : most.failures)
  return isOver ? undefined : pause
}

/** When the next checkpoint is downloaded, in epoch seconds; undefined if there is none. */
export function checkpointDue(run: Run): number | undefined {
  const { step, project, startedAt, checkpointAt } = run
  const checkpoint =
    isWorker(run) || !project || storeOf(project.spec) ? undefined : checkpointEvery(project.spec)
  if (step !== 'running' || checkpoint === undefined || startedAt === undefined) return undefined
  return (checkpointAt ?? startedAt) + checkpoint
}

/** Seconds that the watchdog gives Berth after a run's end, before it acts: more if Berth has a folder to download. */
const grace = { fetch: 900, plain: 300 }

/**
 * The watchdog's order for after the run while Berth is away; undefined for none. If a folder is still to be
 * downloaded, it stops the instance instead of destroying it, which keeps the folder.
 */
export function watchdogOrder(run: Run): WatchdogOrder | undefined {
  const { watchdog, afterwards, fetch, step, interrupted } = run
  if (!watchdog || afterwards === 'nothing' || interrupted || !isGoing({ step })) return undefined
  return fetch === undefined
    ? { action: afterwards, seconds: grace.plain }
    : { action: 'stop', seconds: grace.fetch }
}

/**
 * The run with the output and the GPU load that were just read, if the load was. One that cannot be read, `unread`, says
 * nothing: only output counts then.
 */
export function observedRun(
  run: Run,
  { bytes, load }: { bytes: number; load?: number | 'unread' },
  now: number,
): Run {
  const moved = bytes > 0
  const loaded = typeof load === 'number' && load >= idleBelow
  const { stuckSince, ...rest } = run
  return {
    ...rest,
    stuckSince: stuckSince !== undefined && !moved && !loaded ? stuckSince : undefined,
    ...(moved ? { outputAt: now } : {}),
    ...(loaded ? { loadAt: now } : {}),
    ...(load === undefined ? {} : { loadUnread: load === 'unread' }),
  }
}

/** Since when there was neither output nor load, if that is longer than `stuckAfter`; else undefined. */
export function stuckSince(
  { stuckAfter, startedAt, outputAt, loadAt }: Run,
  now: number,
): number | undefined {
  if (stuckAfter === 0 || startedAt === undefined) return undefined
  const since = Math.max(startedAt, outputAt ?? 0, loadAt ?? 0)
  return now - since >= stuckAfter ? since : undefined
}

/** Whether a run forbids another one to stop or destroy their instance: while it runs, or until its folder is here. */
export function blocksEnding({ step, failedAt }: Run, action: 'stop' | 'destroy'): boolean {
  if (step === 'failed') return failedAt === 'fetching' && action === 'destroy'
  return isGoing({ step }) && step !== 'waiting' && step !== 'ending'
}

/**
 * The action that a destroying limit may take on an instance with such runs. While a folder is being downloaded it
 * waits (undefined); else it stops the instance, which keeps the folder and ends most of the cost, and leaves a stopped
 * one alone (undefined).
 */
export function actionSparing(
  unsafe: readonly Run[],
  state: InstanceState | undefined,
): LimitAction | undefined {
  if (unsafe.length === 0) return 'destroy'
  if (unsafe.some(({ step, unreachedSince }) => step === 'fetching' && unreachedSince === undefined))
    return undefined
  return state && hasTrait(state, 'halted') ? undefined : 'stop'
}

/**
 * The action that a limit may take on an instance with these runs; noted in Activity if it is less than its setting.
 */
export function allowedAction(
  { instance, action }: LimitTarget,
  runs: readonly Run[],
  view: InstanceView | undefined,
  note: (run: Run, text: string, detail: string) => void,
): LimitAction | undefined {
  if (action === 'stop') return 'stop'
  const isProjects = (run: Run) => run.project && run.instance === instance
  if (runs.some(run => isProjects(run) && (isGoing(run) || run.step === 'failed'))) return 'stop'
  const unsafe = runs.filter(run => run.instance === instance && hasUndownloadedResults(run))
  const may = actionSparing(unsafe, view?.state)
  const [first] = unsafe
  if (may === 'stop' && first)
    note(first, 'A limit stops rather than destroys', `${first.fetch} of ${first.name} isn’t downloaded yet.`)
  return may
}
