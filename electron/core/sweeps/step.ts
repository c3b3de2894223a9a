import { isGoing, stoppedByUser } from '#shared/automation/run.ts'
import { latestRuns } from '#shared/automation/sweep.ts'
import type { Problem } from '#shared/problem.ts'
import type { Run } from '../runs/model.ts'
import { firstFailed, haltedByUser, limitReached } from './messages.ts'
import { type Sweep, sweepCost, sweepStops } from './record.ts'

/** Inputs for a group's next move. */
export interface SweepSnapshot {
  sweep: Sweep
  /** All of its runs, earlier attempts included. */
  runs: readonly Run[]
  /** Machines that wait for it, and which of them can be entered. */
  waiting: readonly { instance: number; isReady: boolean }[]
  /** Whether a machine is being requested for it: then no other is, since both might choose the same offer. */
  isRenting: boolean
  /** Epoch seconds of the account's time. */
  now: number
}

export type SweepMove =
  | { do: 'wait' }
  /** Starts a run, on a machine that waits, or on one that is rented for it. */
  | { do: 'run'; index: number; on: number | undefined }
  /** A run whose machine could not be rented goes back to those that have not begun. */
  | { do: 'requeue'; run: Run }
  /** Ends a machine that waits. */
  | { do: 'release'; instance: number }
  /** Starts no other run. `endsRuns`: those in progress are stopped with their machines, which keep their files. */
  | { do: 'halt'; problem: Problem; endsRuns: boolean }
  | { do: 'end' }

/** Failures without a success before them, after which no other run is started. */
const mostFailures = 3

/** A group's next move. Each may be repeated after a kill. */
export function nextSweepMove({ sweep, runs, waiting, isRenting, now }: SweepSnapshot): SweepMove {
  const { step, atOnce, keep, short } = sweep
  const latest = latestRuns(sweep, runs)
  const going = latest.filter(run => run !== undefined && isGoing(run))
  const [spare] = waiting
  if (step !== 'going')
    return spare && (keep === undefined || step !== 'over')
      ? { do: 'release', instance: spare.instance }
      : wait
  const limit = reachedLimit(sweep, runs, now)
  if (limit) return { do: 'halt', problem: limit, endsRuns: true }
  if (latest.some(run => run && isStoppedByUser(run)))
    return { do: 'halt', problem: haltedByUser, endsRuns: false }
  const unrented = latest.find(run => run?.step === 'failed' && run.failedAt === 'waiting')
  // Its cost is known once its rental is undone.
  if (unrented) return unrented.withdrawing ? wait : { do: 'requeue', run: unrented }
  const failing = repeatedFailure(sweep, latest)
  if (failing) return { do: 'halt', problem: failing, endsRuns: false }

  const next = latest.indexOf(undefined)
  if (next < 0) {
    // One that finds no offer is run on it, and the offer of a released machine would only be rented again.
    if (spare && keep === undefined && !isRenting) return { do: 'release', instance: spare.instance }
    return going.length === 0 ? { do: 'end' } : wait
  }
  const ready = waiting.find(({ isReady }) => isReady)
  if (ready) return { do: 'run', index: next, on: ready.instance }
  const mayRent = going.length + waiting.length < atOnce && !isRenting
  return mayRent && (short === undefined || now >= short.nextTryAt)
    ? { do: 'run', index: next, on: undefined }
    : wait
}
const wait: SweepMove = { do: 'wait' }

/** Whether the user stopped a run's machine: another rental would be a surprise. Once they continue, it is run again. */
function isStoppedByUser({ step, problem }: Run): boolean {
  return step === 'failed' && problem?.code === stoppedByUser
}

function reachedLimit(sweep: Sweep, runs: readonly Run[], now: number): Problem | undefined {
  const { most, seconds } = sweepStops(sweep)
  const { since } = sweep
  if (most !== undefined && sweepCost(sweep, runs, now) >= since.micros + most) return limitReached('cost')
  return seconds !== undefined && now >= since.at + seconds ? limitReached('time') : undefined
}

/** Why no other run is started: the first ones all failed. */
function repeatedFailure(sweep: Sweep, latest: readonly (Run | undefined)[]): Problem | undefined {
  if (latest.some(run => run?.step === 'done')) return undefined
  const failed = latest.filter(run => run?.step === 'failed')
  if (failed.length - sweep.since.failed < mostFailures || !latest.includes(undefined)) return undefined
  return firstFailed(failed.length, failed.at(-1)?.problem?.message)
}
