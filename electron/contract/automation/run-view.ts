import type { InferOutput } from 'valibot'
import type { SyncProgress } from '../instance/sync.ts'
import type { Problem } from '../problem.ts'
import type { Micros } from '../spending/money.ts'
import type { RunFields, RunProgram } from './run.ts'

/** A run as the page shows it: a command on an instance, or a project. */
export interface RunView extends InferOutput<typeof RunFields> {
  /** The project whose folder it sends. */
  project?: string
  /** What has output: its command, and the set-up before it. */
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
}

/** The run of a project. */
export interface ProjectRunView extends RunView {
  project: string
  moved: number
  /** The ports in its file, while its command runs. */
  ports?: readonly number[]
  /** `micros` at `at`, growing by `perHour`. */
  cost: { micros: Micros; at: number; perHour: Micros }
  /** When the machine of a failed run is destroyed, or the user reminded of it. */
  keptUntil?: { at: number; destroys: boolean }
  /** Whether a failed run has results on its machine that can be downloaded again. */
  fetchable?: boolean
}

export function isProjectRun(run: RunView): run is ProjectRunView {
  return run.project !== undefined
}

/** Whether the run is unfinished. */
export function isGoing({ step }: Pick<RunView, 'step'>): boolean {
  return step !== 'done' && step !== 'failed' && step !== 'cancelled'
}

/** Whether a run's command is not known to have ended. */
export function isYetToEnd({ step }: Pick<RunView, 'step'>): boolean {
  return step === 'waiting' || step === 'sending' || step === 'setup' || step === 'running'
}
