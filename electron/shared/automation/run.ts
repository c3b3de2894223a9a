import * as v from 'valibot'
import { money } from '../format/money.ts'
import { counted } from '../format/size.ts'
import { atMoment, duration } from '../format/time.ts'
import { InstanceId, RentalId } from '../ids.ts'
import { ChoiceId, RemotePath } from '../instance/files.ts'
import type { SyncProgress } from '../instance/sync.ts'
import type { Problem } from '../problem.ts'
import type { Micros } from '../spending/money.ts'
import { SweepPlace } from './sweep.ts'
import type { Waiting } from './waiting.ts'

/** The id of a run: `x` and sixteen hexadecimal digits. */
export const RunId = v.pipe(v.string(), v.regex(/^x[0-9a-f]{16}$/, 'not a run'))

export const RunAction = v.picklist(['nothing', 'stop', 'destroy'])
export type RunAction = v.InferOutput<typeof RunAction>

const requestFields = {
  command: v.pipe(
    v.string(),
    v.check(text => text.trim() !== '', 'enter the command to run'),
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
    v.number('enter the time as a number'),
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
    /** Where it runs: an instance, or a rental in progress. */
    instance: v.optional(InstanceId),
    rental: v.optional(RentalId),
  }),
  v.check(
    ({ instance, rental }) => (instance === undefined) !== (rental === undefined),
    'choose where it runs',
  ),
)
export type PlacedRunRequest = v.InferOutput<typeof PlacedRunRequest>

/**
 * waiting: for its machine, which is being rented or doesn't run yet. sending: its folder is being uploaded. setup.
 * running: its command is being started, or runs. fetching: its results are being downloaded. ending: its machine is
 * being stopped or destroyed. done. failed: `problem` says why. cancelled.
 */
export const RunStep = v.picklist([
  'waiting',
  'sending',
  'setup',
  'running',
  'fetching',
  'ending',
  'done',
  'failed',
  'cancelled',
])
export type RunStep = v.InferOutput<typeof RunStep>

/** The sources of a run's output. */
export const RunProgram = v.picklist(['command', 'setup'])
export type RunProgram = v.InferOutput<typeof RunProgram>

/** The progress that a program prints: percent, and the seconds left by its own estimate. */
export const RunProgress = v.object({ percent: v.number(), secondsLeft: v.optional(v.number()) })
export type RunProgress = v.InferOutput<typeof RunProgress>

/** A number that a program printed. One that has diverged is no number of JSON, so it is stored as its word. */
export const PrintedNumber = v.union([v.number(), v.picklist(['nan', 'inf', '-inf'])])
export type PrintedNumber = v.InferOutput<typeof PrintedNumber>

/** The fields of a run that are stored and shown. Times in epoch seconds of the account's time. */
export const RunFields = v.object({
  id: RunId,
  instance: v.optional(InstanceId),
  /** The rental that it waits for; that of a project's machine is stored before it begins. */
  rental: v.optional(RentalId),
  name: v.string(),
  command: v.string(),
  step: RunStep,
  /** The step that failed; while its machine is still being stopped, it fails after that. */
  failedAt: v.optional(RunStep),
  afterwards: RunAction,
  /** A folder or file of the instance that is downloaded, and the absolute path of the folder here. */
  fetch: v.optional(v.string()),
  into: v.optional(v.string()),
  watchdog: v.boolean(),
  stuckAfter: v.number(),
  createdAt: v.number(),
  /** When its command began, and when it ended; for a project, when the whole run did. */
  startedAt: v.optional(v.number()),
  endedAt: v.optional(v.number()),
  /** The exit code; 128 and more for a signal. */
  code: v.optional(v.number()),
  /** Since when there was neither output nor load, for a run that seems stuck; absent again after either. */
  stuckSince: v.optional(v.number()),
  /** Its GPU load can't be read, so only output counts. */
  loadUnread: v.optional(v.boolean()),
  /** Bytes of the present program's output so far, how many of the first ones are no longer stored, and its last line. */
  outputBytes: v.number(),
  droppedBytes: v.number(),
  lastLine: v.string(),
  /** From the last progress bar in its output. */
  progress: v.optional(RunProgress),
  /** The number of downloaded files, and the names of those stored beside a file that had changed here too. */
  downloadResult: v.optional(v.object({ files: v.number(), beside: v.array(v.string()) })),
  /** The action that was done on the instance. */
  finalAction: v.optional(v.picklist(['stop', 'destroy'])),
  /** How often a project's run moved to another machine, and the GPU of the present or last one. */
  moves: v.optional(v.number()),
  gpu: v.optional(v.object({ name: v.string(), count: v.number() })),
  /** Seconds of its command that its moves have lost, and what they cost, in micro-dollars; `isUpTo` if it may be less. */
  lost: v.optional(v.object({ seconds: v.number(), isUpTo: v.boolean() })),
  lostCost: v.optional(v.number()),
  /**
   * The git commit of its folder when it was last sent, if it is in a repository; `changed`: how many tracked files
   * differed from it, if known, and the first of them.
   */
  commit: v.optional(
    v.object({
      id: v.string(),
      branch: v.optional(v.string()),
      changed: v.optional(v.object({ files: v.number(), named: v.array(v.string()) })),
    }),
  ),
  /**
   * How many attempts of its command have failed and were tried again, and of those on earlier machines; the last one's
   * exit code, when it was seen, and until the next one begins when it does. `quick`: those in a row that failed at once, where
   * each is tried elsewhere.
   */
  retried: v.optional(
    v.object({
      times: v.number(),
      before: v.number(),
      code: v.number(),
      at: v.number(),
      nextAt: v.optional(v.number()),
      quick: v.optional(v.number()),
    }),
  ),
  /** Micro-dollars that a project's run costs at most. */
  most: v.optional(v.number()),
  /** Its place among the runs of a sweep. */
  sweep: v.optional(SweepPlace),
  /** The numbers that its command printed last, by their names. */
  printed: v.optional(v.record(v.string(), PrintedNumber)),
})

/** A run as the page shows it: a command on an instance, or a project. */
export interface RunView extends v.InferOutput<typeof RunFields> {
  /** The project whose folder it sends. */
  project?: string
  /** The programs with output: the command, and the set-up before it. */
  outputs: readonly RunProgram[]
  /**
   * Since when the download of its folder fails, and the time of the next try; without one, Berth tries once SSH works
   * again. `problem` says why.
   */
  unreached?: { since: number; nextTryAt?: number }
  /** The watchdog has not received its new order, and still follows the previous one. */
  watchdogStale: boolean
  /** How far the upload or download of its folder is. */
  sync?: SyncProgress
  /** Its folder was downloaded. */
  fetched: boolean
  /** The instance stopped meanwhile, so `afterwards` does not apply any more. */
  interrupted: boolean
  /** Why the last try of something failed. */
  problem?: Problem
  /** What its step waits for, while no progress shows; absent once it is over. */
  waiting?: Waiting
}

/** The run of a project. */
export interface ProjectRunView extends RunView {
  project: string
  moves: number
  /** Whether it can continue on another machine now. */
  isMovable?: boolean
  /** The ports in its file, while its command runs. */
  ports?: readonly number[]
  /** `micros` at `at`, growing by `perHour`. */
  cost: { micros: Micros; at: number; perHour: Micros }
  /** When the machine of a failed run is destroyed, or the user reminded of it. */
  keptUntil?: { at: number; destroys: boolean }
  /** The other machines of a run on several, in their order: this one is of the first. Its cost is that of all. */
  nodes?: readonly ProjectRunView[]
  /** Whether a failed run has results on its machine that can be downloaded again. */
  fetchable?: boolean
}

export function isProjectRun(run: RunView): run is ProjectRunView {
  return run.project !== undefined
}

export const notMovable: Problem = {
  code: 'not_movable',
  message: 'Only a project’s run on one machine can move, while its command runs.',
}

/** `2 moves, 1 min 40 s of training lost`; empty for a run that didn't move. */
export function movesWords({ moves = 0, lost }: Pick<RunView, 'moves' | 'lost'>): string {
  if (moves === 0) return ''
  const seconds = Math.floor(lost?.seconds ?? 0)
  if (seconds === 0) return `${counted(moves, 'move')}, no training lost`
  const rest = seconds > 60 && seconds < 3600 && seconds % 60 > 0 ? ` ${duration(seconds % 60)}` : ''
  const time = `${lost?.isUpTo ? 'up to ' : ''}${duration(seconds)}${rest}`
  return `${counted(moves, 'move')}, ${time} of training lost`
}

/**
 * `Cancelled at 21:30, 12 min after its command began: it cost $0.31.`, with why the sweep that it is of was stopped; undefined
 * where it wasn't. `cost` in micro-dollars.
 */
export function cancelledWords(
  { step, endedAt, startedAt }: Pick<RunView, 'step' | 'endedAt' | 'startedAt'>,
  {
    cost,
    now,
    sweep,
  }: { cost: Micros; now: number; sweep?: { step: string; problem?: Problem } | undefined },
): string | undefined {
  if (step !== 'cancelled' || endedAt === undefined) return undefined
  const after =
    startedAt === undefined
      ? 'before its command began'
      : `${duration(Math.max(0, endedAt - startedAt))} after its command began`
  const why = sweep?.problem?.message ?? (sweep?.step === 'stopped' ? 'Its sweep was cancelled.' : '')
  return `Cancelled ${atMoment(endedAt, now)}, ${after}: it cost ${money(cost)}. ${why}`.trimEnd()
}

/** `Moves lost 20 min of training in 2 runs, which cost about $0.05.`; empty where they lost none. */
export function lossWords(runs: readonly Pick<RunView, 'lost' | 'lostCost'>[]): string {
  const losses = runs.flatMap(({ lost, lostCost: cost = 0 }) =>
    lost && lost.seconds >= 1 ? { ...lost, cost } : [],
  )
  if (losses.length === 0) return ''
  const seconds = losses.reduce((sum, lost) => sum + lost.seconds, 0)
  const cost = losses.reduce((sum, lost) => sum + lost.cost, 0)
  const upTo = losses.some(({ isUpTo }) => isUpTo) ? 'up to ' : ''
  return `Moves lost ${upTo}${duration(seconds)} of training in ${counted(losses.length, 'run')}, which cost about ${money(cost)}.`
}

/** The codes of a limit that stopped a run: of its whole sweep, and of its own machine. */
export const sweepLimit = 'sweep_limit'
export const machineLimit = 'stopped_by_limit'

/** The codes of a run whose machine was stopped otherwise: by its user, and by nobody known. */
export const stoppedByUser = 'stopped_by_user'
export const machineStopped = 'stopped'

/** The codes of ends that are no failures of what a run ran: at its limit, or at any stop of its machine. */
const limitCodes = [sweepLimit, machineLimit]
const stopCodes = [...limitCodes, stoppedByUser, machineStopped]

/** Whether a run ended since its limit was reached. */
export function isStoppedAtLimit(problem: Pick<Problem, 'code'> | undefined): boolean {
  return limitCodes.includes(problem?.code ?? '')
}

/** Whether a run ended since its machine was stopped. */
export function isStopped({ step, problem }: { step: RunStep; problem?: Pick<Problem, 'code'> | undefined }) {
  return step === 'failed' && stopCodes.includes(problem?.code ?? '')
}

/** Whether it ended before its command did: its user cancelled it, or its machine was stopped or has gone. */
export function isCutShort(run: Parameters<typeof isStopped>[0]): boolean {
  const { step, problem } = run
  return step === 'cancelled' || isStopped(run) || (step === 'failed' && problem?.code === 'no_such_instance')
}

/** Whether the run is unfinished. */
export function isGoing({ step }: Pick<RunView, 'step'>): boolean {
  return step !== 'done' && step !== 'failed' && step !== 'cancelled'
}

/** Whether a run's command is not known to have ended. */
export function isYetToEnd({ step }: Pick<RunView, 'step'>): boolean {
  return step === 'waiting' || step === 'sending' || step === 'setup' || step === 'running'
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
