import { isGoing } from '#contract/automation/run.ts'
import { harmless } from '#contract/instance/file-names.ts'
import type { InstanceView } from '#contract/instance/instance.ts'
import { hasTrait } from '#contract/instance/state-traits.ts'
import type { Problem } from '#contract/problem.ts'
import { keepingOf } from '#contract/project/bounds.ts'
import { isJobGoing, type JobStep } from '#contract/project/project.ts'
import type { Rental } from '#core/renting/rental.ts'
import { lastingErrors, pauseWhileChanging } from '#core/runs/afterwards/left-behind.ts'
import type { Run } from '#core/runs/model.ts'
import type { Job } from '../model.ts'

/** What a job depends on, as of a poll. */
export interface JobSnapshot {
  attemptSeries: Pick<Rental, 'step' | 'instance' | 'problem'> | undefined
  /** `gone` once it is certain that it no longer exists; undefined while nothing is known. */
  instance: InstanceView | 'gone' | undefined
  setup: (Pick<Run, 'step' | 'code' | 'problem'> & { lastLine?: string }) | undefined
  command: (Pick<Run, 'step' | 'code' | 'problem'> & { lastLine?: string }) | undefined
  /** Why a limit stopped the machine, a sentence; undefined where none did. */
  limit: string | undefined
  now: number
}

export type JobMove =
  | { do: 'wait' }
  /** Rents a machine by the job's rental. */
  | { do: 'rent' }
  | { do: 'start' }
  | { do: 'send' }
  | { do: 'run setup' }
  | { do: 'run command' }
  | { do: 'bring'; last: boolean }
  | { do: 'end' }
  | { do: 'halt' }
  /** Reminds the user of the machine of a failed job, or destroys it as agreed. */
  | { do: 'expire'; destroys: boolean }
  /** Continues on another machine, which is still to be found. */
  | { do: 'move' }
  | { do: 'step'; step: JobStep; code?: number; instance?: number; outcome?: Job['outcome'] }
  | { do: 'fail'; problem: Problem }

/** A job's next move. Each may be repeated after a kill. */
export function nextJobMove(job: Job, snapshot: JobSnapshot): JobMove {
  const { step, spec } = job
  if (step === 'failed') return job.halting ? halting(snapshot) : kept(job, snapshot)
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
      return {
        do: 'fail',
        problem: (snapshot.setup.code === undefined && snapshot.setup.problem) || setupFailed(snapshot.setup),
      }
    case 'running':
      return running(job, snapshot)
    default:
      return { do: 'bring', last: true }
  }
}

function renting({ attemptSeries }: JobSnapshot): JobMove {
  if (!attemptSeries) return { do: 'rent' }
  const { step, instance, problem } = attemptSeries
  if (step === 'ready' && instance !== undefined) return { do: 'step', step: 'sending', instance }
  if (step === 'failed') return { do: 'fail', problem: problem ?? notRented }
  return step === 'cancelled' ? { do: 'fail', problem: notRented } : { do: 'wait' }
}

/** The move that the job's machine needs first; undefined where it runs. */
function moveForMachine(job: Job, { instance, limit }: JobSnapshot): JobMove | undefined {
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

function running(job: Job, { command, now }: JobSnapshot): JobMove {
  if (!command) return { do: 'run command' }
  if (!isGoing(command)) {
    if (command.code === undefined) return { do: 'fail', problem: command.problem ?? commandLost }
    if (command.code === 0 || job.endedByUser) return { do: 'step', step: 'bringing', code: command.code }
    const outcome = { failedAt: 'running' as const, problem: commandFailed(command) }
    return { do: 'step', step: 'bringing', code: command.code, outcome }
  }
  const last = job.checkpointAt ?? job.startedAt ?? now
  const { checkpoint } = job.spec
  const due = checkpoint !== undefined && now - last >= checkpoint
  return due ? { do: 'bring', last: false } : { do: 'wait' }
}

/** The machine of a failed job is stopped, so that only its disk costs. */
function halting({ instance }: JobSnapshot): JobMove {
  if (instance === undefined) return { do: 'wait' }
  return { do: 'halt' }
}

/** The machine of a failed job is kept for the agreed time. One that runs is in use, and is not destroyed. */
function kept({ keptUntil, keeping, spec }: Job, { instance, now }: JobSnapshot): JobMove {
  if (keptUntil === undefined || now < keptUntil || instance === undefined || instance === 'gone')
    return { do: 'wait' }
  const { destroys } = keeping ?? keepingOf(spec)
  return { do: 'expire', destroys: destroys && hasTrait(instance.state, 'over') }
}

/** Milliseconds before each retry; the last repeats. */
const pauses = [1000, 2000, 5000, 15_000, 60_000]
/** Failures in a row after which a job fails, and where its machine cannot be reached: after about half an hour. */
const most = { failures: 8, unreachable: 35, same: 3 }
/** Errors of the machine itself, which come again each time unless someone mends it. */
const lasting = new Set(['not_prepared', 'sync_failed', 'shell_replaced'])
/** Errors that no retry solves. */
const hopeless = new Set([...lastingErrors, 'ignore_file', 'disk_full', 'secret_missing'])

/** A failed move, after `fails` earlier failures in a row; `isOnline`: whether the service answers. */
interface Failure {
  job: Pick<Job, 'step' | 'changingSince'>
  move: JobMove
  fails: number
  /** Failures in a row with this very problem, this one included. */
  same: number
  isOnline: boolean
  /** Epoch seconds of this computer. */
  clock: number
}

/** The number of failures in a row after another one: without a network it stays below what fails a job. */
export function failsAfter(fails: number, isOnline: boolean): number {
  return isOnline ? fails + 1 : Math.min(fails + 1, pauses.length)
}

/**
 * Milliseconds before the retry; undefined if the job fails instead. A running job never fails because of a checkpoint,
 * or without a network.
 */
export function jobPauseAfter(
  { code }: Pick<Problem, 'code'>,
  { job, move, fails, same, isOnline, clock }: Failure,
): number | undefined {
  const isCheckpoint = move.do === 'bring' && !move.last
  if (code === 'results_changing') return pauseWhileChanging(job.changingSince, clock, pauses[fails])
  const isOver =
    hopeless.has(code) ||
    (lasting.has(code) && same >= most.same) ||
    fails + 1 >= (code.startsWith('ssh_') ? most.unreachable : most.failures)
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

function setupFailed(run: { code?: number; lastLine?: string }): Problem {
  return {
    code: 'setup_failed',
    message: `The set-up ended with exit code ${run.code ?? 'unknown'}${missingWords(run)}.`,
    advice: 'Its last lines say why. Mend it, then go on from here.',
  }
}
function commandFailed(run: { code?: number; lastLine?: string }): Problem {
  return {
    code: 'command_failed',
    message: `The command ended with exit code ${run.code}${missingWords(run)}.`,
    advice: 'Its last lines say why. Its machine is stopped with all its files.',
  }
}
/** `: mytrain is missing there`, where a shell could not find or run a command. */
function missingWords({ code, lastLine = '' }: { code?: number; lastLine?: string }): string {
  const name = code === 126 || code === 127 ? missingCommand(lastLine) : undefined
  if (name === undefined) return ''
  return code === 127 ? `: ${name} is missing there` : `: ${name} can't be run there`
}
/** The command in a shell's complaint, such as `line 1: mytrain: command not found`. */
export function missingCommand(line: string): string | undefined {
  const parts = line.slice(0, 1000).split(': ')
  const complaint = parts.findIndex(part => complaints.some(start => part.toLowerCase().startsWith(start)))
  const name = parts[complaint - 1]?.trim().slice(0, 100)
  return name ? harmless(name) : undefined
}
const complaints = [
  'command not found',
  'not found',
  'no such file or directory',
  'permission denied',
  'cannot execute',
]
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
