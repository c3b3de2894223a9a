import * as v from 'valibot'
import { InstanceId, RentalId } from '../ids.ts'
import { ChoiceId, RemotePath } from '../instance/files.ts'
import type { SyncProgress } from '../instance/sync.ts'
import type { Problem } from '../problem.ts'

/** The id of a run: `x` and sixteen hexadecimal digits. */
export const RunId = v.pipe(v.string(), v.regex(/^x[0-9a-f]{16}$/, 'not a run'))

export const RunAction = v.picklist(['nothing', 'stop', 'destroy'])
export type RunAction = v.InferOutput<typeof RunAction>

const requestFields = {
  command: v.pipe(
    v.string(),
    v.check(text => text.trim() !== '', 'give the command to run'),
    v.maxLength(65_536, 'at most 65,536 characters'),
    v.check(text => !text.includes('\0'), 'without a zero byte'),
  ),
  name: v.optional(v.pipe(v.string(), v.trim(), v.maxLength(128, 'at most 128 characters'))),
  /** A folder or file of the instance to download after the run. */
  fetch: v.optional(RemotePath),
  /** The folder chosen for the download; absent for Berth's own in the user's downloads. */
  into: v.optional(ChoiceId),
  /** The action on the instance once the run has ended and its download is complete. */
  afterwards: RunAction,
  /** Whether a watchdog acts while Berth is away. With a download pending it stops the instance, never destroys it. */
  watchdog: v.boolean(),
  /** Seconds without output and GPU load after which the run seems stuck; 0 for never. */
  stuckAfter: v.pipe(
    v.number('give the time as a number'),
    v.integer('whole seconds'),
    v.minValue(0, 'at least 0'),
    v.maxValue(30 * 86_400, 'at most 30 days'),
  ),
  /** Whether `afterwards` also applies when the run seems stuck; else the user is only alerted. */
  afterwardsIfStuck: v.boolean(),
}

/** A run on an instance that will be rented for it. */
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
 * waiting: for its instance to run. starting: the command is being sent. running. fetching: it has ended, and its
 * folder is being downloaded. acting: the instance is being stopped or destroyed. kept: the download failed, so the
 * instance was left as it is. over: nothing is left to do. failed: it never began, its command failed, or its end is unknown.
 */
export type RunStep = 'waiting' | 'starting' | 'running' | 'fetching' | 'acting' | 'kept' | 'over' | 'failed'

/** The progress that a program prints: percent, and the seconds left by its own estimate. */
export const RunProgress = v.object({ percent: v.number(), secondsLeft: v.optional(v.number()) })
export type RunProgress = v.InferOutput<typeof RunProgress>

/** A run as the page shows it. Times in epoch seconds of the account's time. */
export interface RunView {
  id: string
  instance?: number
  /** The rental or series of attempts that it waits for. */
  rental?: string
  attemptSeries?: string
  name: string
  command: string
  step: RunStep
  afterwards: RunAction
  fetch?: string
  /** The folder for downloads on this machine, as people write it. */
  into?: string
  watchdog: boolean
  stuckAfter: number
  createdAt: number
  startedAt?: number
  endedAt?: number
  /** The exit code; 128 and more for a signal. */
  code?: number
  /** Since when there was neither output nor load, for a run that seems stuck; absent again after either. */
  stuckSince?: number
  /** Its GPU load can't be read, so only output counts. */
  loadUnread?: boolean
  /**
   * Since when the download of its folder fails, and the time of the next try; without one, Berth tries once SSH works
   * again. `problem` says why.
   */
  unreached?: { since: number; nextTryAt?: number }
  /** The watchdog has not received its new order, and still follows the previous one. */
  watchdogStale: boolean
  /** Bytes of output so far, and how many of the first ones are no longer stored. */
  seen: number
  dropped: number
  /** The last line, as plain text. */
  lastLine: string
  /** From the last progress bar in its output. */
  progress?: RunProgress
  /** How far the download of its folder is. */
  sync?: SyncProgress
  /** Its folder was downloaded. */
  fetched: boolean
  /** The action that was done on the instance. */
  acted?: 'stop' | 'destroy'
  /** The instance stopped meanwhile, so `afterwards` does not apply any more. */
  interrupted: boolean
  /** Why the last try of something failed. */
  problem?: Problem
}

/** Whether the run is unfinished. */
export function isGoing({ step }: Pick<RunView, 'step'>): boolean {
  return step !== 'kept' && step !== 'over' && step !== 'failed'
}

/** The position of a byte in a run's whole output. */
const byte = v.pipe(v.number(), v.safeInteger(), v.minValue(0))

/** A page of the stored output: the one before a byte, from it on, or around it. */
export const RunPlace = v.union([
  v.strictObject({ before: byte }),
  v.strictObject({ from: byte }),
  v.strictObject({ around: byte }),
])
export type RunPlace = v.InferOutput<typeof RunPlace>

/**
 * A page of the stored output: `from` and `to` bound its bytes, `first` and `end` all stored ones. `text` is plain
 * but for the moves that draw progress, of `output-rows.ts`.
 */
export interface RunPage {
  from: number
  to: number
  first: number
  end: number
  text: string
}

/** A line of the stored output: its number from the first stored one, its first byte, and its text. */
export interface RunMatch {
  line: number
  at: number
  text: string
}
