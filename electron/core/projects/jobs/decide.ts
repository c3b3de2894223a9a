import { isGoing } from '../../../contract/automation/run.ts'
import type { InstanceView } from '../../../contract/instance/instance.ts'
import { hasTrait } from '../../../contract/instance/state-traits.ts'
import type { Problem } from '../../../contract/problem.ts'
import { isJobGoing, type JobStep } from '../../../contract/project/project.ts'
import type { AttemptSeries } from '../../renting/attempts/model.ts'
import type { Run } from '../../runs/model.ts'
import type { Job } from '../model.ts'

/** What is known of what a job stands on, at a fresh poll. */
export interface Snapshot {
  attemptSeries: Pick<AttemptSeries, 'step' | 'instance' | 'problem'> | undefined
  /** `gone` once it is certain that it is no longer there; undefined while nothing is known. */
  instance: InstanceView | 'gone' | undefined
  setup: Pick<Run, 'step' | 'code' | 'problem'> | undefined
  command: Pick<Run, 'step' | 'code' | 'problem'> | undefined
  now: number
}

export type Move =
  | { do: 'wait' }
  /** Asks for a machine, by the series of attempts that the job names. */
  | { do: 'rent' }
  | { do: 'start' }
  | { do: 'send' }
  | { do: 'run setup' }
  | { do: 'run command' }
  | { do: 'bring'; last: boolean }
  | { do: 'end' }
  | { do: 'halt' }
  /** Goes on elsewhere, on a machine that is still to be found. */
  | { do: 'move' }
  | { do: 'step'; step: JobStep; code?: number; instance?: number }
  | { do: 'fail'; problem: Problem }

/** What a job does next. All of it may be asked again after a kill. */
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

/** What its machine needs before anything can be done on it; undefined where it runs. */
function moveForMachine(job: Job, { instance }: Snapshot): Move | undefined {
  if (instance === undefined) return { do: 'wait' }
  const mayMove = job.moved < (job.spec.outbid?.elsewhere ?? 0)
  if (instance === 'gone') return mayMove ? { do: 'move' } : { do: 'fail', problem: machineGone }
  if (instance.state === 'running') return undefined
  if (instance.state === 'outbid') return mayMove ? { do: 'move' } : { do: 'fail', problem: outbid }
  if (job.starting && hasTrait(instance.state, 'halted')) return { do: 'start' }
  if (instance.state === 'stopped') return { do: 'fail', problem: stopped }
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

/** A machine that nothing goes on with is not to cost more than its disk. */
function halting({ instance }: Snapshot): Move {
  if (instance === undefined) return { do: 'wait' }
  return { do: 'halt' }
}

/** Milliseconds until what failed is tried again. The last stays where nothing is given up. */
const pauses = [1000, 2000, 5000, 15_000, 60_000, 60_000, 60_000]
/** What no later try mends. */
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

/** What a move failed at: `fails` times in a row before this, while the service answered or did not. */
interface Failure {
  job: Pick<Job, 'step'>
  move: Move
  fails: number
  isOnline: boolean
}

/**
 * Milliseconds until it is tried again; undefined where the job has failed by it. Nothing that runs well is given up for
 * a checkpoint that does not come home, or while there is no network.
 */
export function pauseAfter(
  { code }: Pick<Problem, 'code'>,
  { job, move, fails, isOnline }: Failure,
): number | undefined {
  const isCheckpoint = move.do === 'bring' && !move.last
  const pause = hopeless.has(code) ? undefined : pauses[fails]
  return isJobGoing(job) && isOnline && !isCheckpoint ? pause : (pauses[fails] ?? pauses.at(-1))
}

/** When the next checkpoint is to be downloaded, in epoch seconds; undefined where none is to come. */
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
const stopped = {
  code: 'stopped',
  message: 'Its machine was stopped before it was done.',
  advice: 'Its files are still there. Go on from here to start it again.',
}
const crashed = {
  code: 'crashed',
  message: 'Its machine has crashed.',
  advice: 'Look at its files, or give it up, which destroys it, and run it again.',
}
const commandLost = { code: 'process_gone', message: 'Its command is gone without an exit code.' }
