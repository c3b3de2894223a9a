import { isGoing } from '../../../contract/automation/run.ts'
import type { InstanceView } from '../../../contract/instance/instance.ts'
import { hasTrait } from '../../../contract/instance/state-traits.ts'
import type { Problem } from '../../../contract/problem.ts'
import { isJobGoing, type JobStep } from '../../../contract/project/project.ts'
import type { AttemptSeries } from '../../renting/attempts/model.ts'
import type { Run } from '../../runs/model.ts'
import type { Job } from '../model.ts'

/** What a job depends on, as of a poll. */
export interface Snapshot {
  attemptSeries: Pick<AttemptSeries, 'step' | 'instance' | 'problem'> | undefined
  /** `gone` once it is certain that it no longer exists; undefined while nothing is known. */
  instance: InstanceView | 'gone' | undefined
  setup: Pick<Run, 'step' | 'code' | 'problem'> | undefined
  command: Pick<Run, 'step' | 'code' | 'problem'> | undefined
  /** Why a guard stopped the machine, a sentence; undefined where none did. */
  limit: string | undefined
  now: number
}

export type Move =
  | { do: 'wait' }
  /** Rents a machine by the job's series of attempts. */
  | { do: 'rent' }
  | { do: 'start' }
  | { do: 'send' }
  | { do: 'run setup' }
  | { do: 'run command' }
  | { do: 'bring'; last: boolean }
  | { do: 'end' }
  | { do: 'halt' }
  /** Continues on another machine, which is still to be found. */
  | { do: 'move' }
  | { do: 'step'; step: JobStep; code?: number; instance?: number }
  | { do: 'fail'; problem: Problem }

/** A job's next move. Each may be repeated after a kill. */
export function nextMove(job: Job, snapshot: Snapshot): Move {
  const { step, spec } = job
  if (step === 'failed') return job.halting ? halting(snapshot) : { do: 'wait' }
  if (step === 'done' || step === 'cancelled') return { do: 'wait' }
  if (step === 'renting') return renting(snapshot)
  if (step === 'ending') return { do: 'end' }
  const machineMove = moveForMachine(job, snapshot)
  if (machineMove) return machineMove
  switch (step) {
    case 'sending':
      return { do: 'send' }
    case 'setup':
      if (spec.setup === undefined) return { do: 'step', step: 'running' }
      if (!snapshot.setup) return { do: 'run setup' }
      if (isGoing(snapshot.setup)) return { do: 'wait' }
      if (snapshot.setup.code === 0) return { do: 'step', step: 'running' }
      return { do: 'fail', problem: snapshot.setup.problem ?? setupFailed(snapshot.setup.code) }
    case 'running':
      return running(job, snapshot)
    default:
      return { do: 'bring', last: true }
  }
}

function renting({ attemptSeries }: Snapshot): Move {
  if (!attemptSeries) return { do: 'rent' }
  const { step, instance, problem } = attemptSeries
  if (step === 'ready' && instance !== undefined) return { do: 'step', step: 'sending', instance }
  if (step === 'failed') return { do: 'fail', problem: problem ?? notRented }
  return step === 'cancelled' ? { do: 'fail', problem: notRented } : { do: 'wait' }
}

/** The move that the job's machine needs first; undefined where it runs. */
function moveForMachine(job: Job, { instance, limit }: Snapshot): Move | undefined {
  if (instance === undefined) return { do: 'wait' }
  const mayMove = job.moved < (job.spec.outbid?.elsewhere ?? 0)
  if (instance === 'gone') return mayMove ? { do: 'move' } : { do: 'fail', problem: machineGone }
  if (instance.state === 'running') return undefined
  if (instance.state === 'outbid') return mayMove ? { do: 'move' } : { do: 'fail', problem: outbid }
  if (job.starting && hasTrait(instance.state, 'halted')) return { do: 'start' }
  if (instance.state === 'stopped') return { do: 'fail', problem: stopped(limit, job.stops.length > 0) }
  if (instance.state === 'ended') return { do: 'fail', problem: ended }
  if (instance.state === 'crashed' || instance.state === 'unstartable')
    return { do: 'fail', problem: crashed }
  return { do: 'wait' }
}

function running(job: Job, { command, now }: Snapshot): Move {
  if (!command) return { do: 'run command' }
  if (!isGoing(command)) {
    if (command.code === undefined) return { do: 'fail', problem: command.problem ?? commandLost }
    return { do: 'step', step: 'bringing', code: command.code }
  }
  const last = job.checkpointAt ?? job.startedAt ?? now
  const { checkpoint } = job.spec
  const due = checkpoint !== undefined && now - last >= checkpoint
  return due ? { do: 'bring', last: false } : { do: 'wait' }
}

/** The machine of a failed job is stopped, so that only its disk costs. */
function halting({ instance }: Snapshot): Move {
  if (instance === undefined) return { do: 'wait' }
  return { do: 'halt' }
}

/** Milliseconds before each retry; the last repeats. */
const pauses = [1000, 2000, 5000, 15_000, 60_000]
/** Failures in a row after which a job fails, and where its machine cannot be reached: after about half an hour. */
const most = { failures: 8, unreachable: 35 }
/** Errors that no retry solves. */
const hopeless = new Set([
  'no_such_folder',
  'ignore_file',
  'too_many_files',
  'too_deep',
  'in_the_way',
  'disk_full',
  'disk_full_here',
  'no_tar',
  'no_posix_shell',
  'sync_refused',
  'secret_missing',
  'results_missing',
  'results_left',
])

/** A failed move, after `fails` earlier failures in a row; `isOnline`: whether the service answers. */
interface Failure {
  job: Pick<Job, 'step'>
  move: Move
  fails: number
  isOnline: boolean
}

/** The number of failures in a row after another one: without a network it stays below what fails a job. */
export function failsAfter(fails: number, isOnline: boolean): number {
  return isOnline ? fails + 1 : Math.min(fails + 1, pauses.length)
}

/**
 * Milliseconds before the retry; undefined if the job fails instead. A running job never fails because of a checkpoint,
 * or without a network.
 */
export function pauseAfter(
  { code }: Pick<Problem, 'code'>,
  { job, move, fails, isOnline }: Failure,
): number | undefined {
  const isCheckpoint = move.do === 'bring' && !move.last
  const isOver =
    hopeless.has(code) || fails + 1 >= (code.startsWith('ssh_') ? most.unreachable : most.failures)
  if (isOver && isJobGoing(job) && isOnline && !isCheckpoint) return undefined
  return pauses[fails] ?? pauses.at(-1)
}

/** When the next checkpoint is downloaded, in epoch seconds; undefined if there is none. */
export function checkpointDue({
  step,
  spec: { checkpoint },
  startedAt,
  checkpointAt,
}: Job): number | undefined {
  if (step !== 'running' || checkpoint === undefined || startedAt === undefined) return undefined
  return (checkpointAt ?? startedAt) + checkpoint
}

function setupFailed(code: number | undefined): Problem {
  return {
    code: 'setup_failed',
    message: `The set-up ended with exit code ${code ?? 'unknown'}.`,
    advice: 'Its last lines say why. Mend it, then go on from here.',
  }
}
const notRented = {
  code: 'not_rented',
  message: 'No machine was rented.',
  advice: 'Go on from here to look again.',
}
export const machineGone = {
  code: 'no_such_instance',
  message: 'Its machine is no longer on the account.',
  advice: 'Run it again as it was: that rents another.',
}
const outbid = {
  code: 'outbid',
  message: 'Its machine was outbid.',
  advice: 'Bid more for it, then go on from here; or give it up, and run it again.',
}
function stopped(limit: string | undefined, isLimited: boolean): Problem {
  return {
    code: 'stopped',
    message: `Its machine was stopped before it was done.${limit === undefined ? '' : ` ${limit}`}`,
    advice: `Its files are still there. Go on from here to start it again${isLimited ? ', with its limits anew' : ''}.`,
  }
}
const ended = {
  code: 'ended',
  message: 'Its machine exited before it was done: it was stopped, or its container crashed.',
  advice: 'Go on from here to start it again; or give it up, which destroys it, and run it again.',
}
const crashed = {
  code: 'crashed',
  message: 'Its machine has crashed.',
  advice: 'Look at its files, or give it up, which destroys it, and run it again.',
}
const commandLost = { code: 'process_gone', message: 'Its command is gone without an exit code.' }
