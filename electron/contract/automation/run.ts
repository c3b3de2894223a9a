import * as v from 'valibot'
import { InstanceId, RentalId } from '../ids.ts'
import { ChoiceId, RemotePath } from '../instance/files.ts'
import type { Problem } from '../problem.ts'

/** A run of Berth's own making: `x` and sixteen hexadecimal digits. */
export const RunId = v.pipe(v.string(), v.regex(/^x[0-9a-f]{16}$/, 'not a run'))

export const RunAction = v.picklist(['nothing', 'stop', 'destroy'])
export type RunAction = v.InferOutput<typeof RunAction>

/** What is to be run, and what becomes of the instance then. */
const requestFields = {
  command: v.pipe(
    v.string(),
    v.check(text => text.trim() !== '', 'give the command to run'),
    v.maxLength(65_536, 'at most 65,536 characters'),
    v.check(text => !text.includes('\0'), 'without a zero byte'),
  ),
  name: v.optional(v.pipe(v.string(), v.trim(), v.maxLength(128, 'at most 128 characters'))),
  /** A folder or file of the instance that is fetched first. */
  fetch: v.optional(RemotePath),
  /** The folder chosen for it; without one, Berth's own in the user's downloads. */
  into: v.optional(ChoiceId),
  /** What is done to the instance once the run has ended and what is to be fetched is here. */
  afterwards: RunAction,
  /** Whether a watchdog on the instance does it where Berth cannot. It destroys nothing that was to be fetched. */
  watchdog: v.boolean(),
  /** Seconds without output and without load on the GPUs after which it seems stuck; 0 for never. */
  stuckAfter: v.pipe(
    v.number('give the time as a number'),
    v.integer('whole seconds'),
    v.minValue(0, 'at least 0'),
    v.maxValue(30 * 86_400, 'at most 30 days'),
  ),
  /** Whether what was chosen is done when it seems stuck, too; else it is only said. */
  afterwardsIfStuck: v.boolean(),
}

/** A run on an instance that is rented for it. */
export const RunRequest = v.object(requestFields)
export type RunRequest = v.InferOutput<typeof RunRequest>

export const PlacedRunRequest = v.pipe(
  v.object({
    ...requestFields,
    /** Where it runs: an instance, or one that is being rented. */
    instance: v.optional(InstanceId),
    rental: v.optional(RentalId),
  }),
  v.check(({ instance, rental }) => (instance === undefined) !== (rental === undefined), 'say where it runs'),
)
export type PlacedRunRequest = v.InferOutput<typeof PlacedRunRequest>

/**
 * waiting: for its instance to run. starting: on its way there. running. fetching: it has ended, and its folder is being
 * fetched. acting: the instance is being stopped or destroyed. kept: what was to be fetched could not be, so the
 * instance was left as it is. over: nothing is left to do. failed: it never began, or how it ended cannot be known.
 */
export type RunStep = 'waiting' | 'starting' | 'running' | 'fetching' | 'acting' | 'kept' | 'over' | 'failed'

/** How far a program says it is: percent, and seconds that it expects to need still. */
export const RunProgress = v.object({ percent: v.number(), secondsLeft: v.optional(v.number()) })
export type RunProgress = v.InferOutput<typeof RunProgress>

/** A run as the page shows it. Times in epoch seconds of the account's time. */
export interface RunView {
  id: string
  instance?: number
  /** The rental, or the series of attempts, that it waits for. */
  rental?: string
  attemptSeries?: string
  name: string
  command: string
  step: RunStep
  afterwards: RunAction
  fetch?: string
  /** Where fetched files go on this machine, as people read it. */
  into?: string
  watchdog: boolean
  stuckAfter: number
  createdAt: number
  startedAt?: number
  endedAt?: number
  /** The exit code; 128 and more for a signal. */
  code?: number
  /** Since when there was neither output nor load; told, and so over once there is either. */
  stuckSince?: number
  /**
   * Its folder cannot be fetched yet: since when, and when the next try comes; without that, once the instance can be
   * entered again. Why is the problem.
   */
  unreached?: { since: number; nextTryAt?: number }
  /** The watchdog on its instance has not heard yet what holds now, so it goes by what held before. */
  watchdogStale: boolean
  /** Bytes of output on the instance that Berth has seen, and of those the first ones that it no longer keeps. */
  seen: number
  dropped: number
  /** The last line, as plain text. */
  lastLine: string
  /** What the last bar in its output tells. */
  progress?: RunProgress
  /** Its folder is here. */
  fetched: boolean
  /** What was done to the instance. */
  acted?: 'stop' | 'destroy'
  /** The instance stopped before Berth saw the end: it is left as it is then. */
  interrupted: boolean
  /** Why the last try of something failed. */
  problem?: Problem
}

/** Whether something is still to come of it. */
export function isGoing({ step }: Pick<RunView, 'step'>): boolean {
  return step !== 'kept' && step !== 'over' && step !== 'failed'
}

/** A byte of a run's output, counted from its beginning on the instance. */
const byte = v.pipe(v.number(), v.safeInteger(), v.minValue(0))

/** Which page of the kept output is wanted: the one before a byte, from it on, or with it. */
export const RunPlace = v.union([
  v.strictObject({ before: byte }),
  v.strictObject({ from: byte }),
  v.strictObject({ around: byte }),
])
export type RunPlace = v.InferOutput<typeof RunPlace>

/**
 * A page of the kept output: its bytes, those that are kept in all, and plain text. Of escapes, that has the moves that
 * progress is drawn with: `\r` to write over the line, `\v` to the line above.
 */
export interface RunPage {
  from: number
  to: number
  first: number
  end: number
  text: string
}

/** A line of the kept output: which one, counted from the first that is kept, its first byte, and what it says there. */
export interface RunMatch {
  line: number
  at: number
  text: string
}
