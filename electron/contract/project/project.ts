import * as v from 'valibot'
import type { RentalStop } from '../automation/guard-kinds.ts'
import type { FolderScan, SyncProgress } from '../instance/sync.ts'
import type { OfferView } from '../market/offer.ts'
import type { Problem } from '../problem.ts'
import type { Micros } from '../spending/money.ts'
import type { ProjectSpec } from './spec.ts'
import type { SpecProblem } from './spec-problem.ts'

/** A project of the user's: `p` and sixteen hexadecimal digits. */
export const ProjectId = v.pipe(v.string(), v.regex(/^p[0-9a-f]{16}$/, 'not a project'))
/** One run of it from a folder to its results: `j` and sixteen hexadecimal digits. */
export const JobId = v.pipe(v.string(), v.regex(/^j[0-9a-f]{16}$/, 'not a job'))

/** A folder of this machine that can be run on a rented one. */
export interface ProjectView {
  id: string
  name: string
  /** The folder as people read it: `~/code/mnist`. The page names none. */
  folder: string
  /** What its `berth.yaml` says; absent where there is none, or it cannot be used. */
  spec?: ProjectSpec
  /** What is wrong with that file. */
  problems: readonly SpecProblem[]
  /** Why the folder or the file cannot be read. */
  problem?: Problem
}

/** Whether its folder can be read, and has no file: a form stands in for it. */
export function lacksSpec({ spec, problem, problems }: ProjectView): boolean {
  return spec === undefined && problem === undefined && problems.length === 0
}

/** What would happen, before anything costs. */
export interface ProjectPlan {
  /** Of the file, as it was read for this: what is agreed to. */
  content: string
  spec: ProjectSpec
  /** The machine that would be taken now; absent where none fits. */
  offer?: OfferView
  /** With disk. */
  pricePerHour?: Micros
  stops: RentalStop[]
  /** What it costs at the most, attempts that come to nothing included; absent where nothing bounds it. */
  most?: Micros
  /** Seconds after which it is stopped at the latest; absent where nothing says so. */
  longest?: number
  scan: FolderScan
  /** Secrets that it wants and that have no value yet. */
  missingSecrets: readonly string[]
  /** This content was agreed to before, so that nothing in it is new. */
  known: boolean
}

/**
 * renting: a machine is being found and entered. sending: the folder is on its way there. setup, running. bringing: the
 * results come home. ending: the machine is stopped or destroyed. done. failed: it goes on with none of these before
 * the user says so, and `problem` says why. cancelled.
 */
export type JobStep =
  | 'renting'
  | 'sending'
  | 'setup'
  | 'running'
  | 'bringing'
  | 'ending'
  | 'done'
  | 'failed'
  | 'cancelled'

/** Times in epoch seconds of the account's time. */
export interface JobView {
  id: string
  project: string
  name: string
  step: JobStep
  /** The step that failed. */
  failedAt?: JobStep
  problem?: Problem
  createdAt: number
  /** When the command began, and when all was over. */
  startedAt?: number
  endedAt?: number
  attemptSeries: string
  instance?: number
  gpu?: { name?: string; count?: number }
  /**
   * What its folder stood at when it was sent last, where that is in a git repository; `changed`: how many files that
   * git tracks had changed since, where it could tell, and the first of them.
   */
  commit?: { id: string; branch?: string; changed?: { files: number; named: string[] } }
  /** The run of its set-up, and that of its command. */
  setup?: string
  run?: string
  /** Ports that its file names, while its command runs. */
  ports?: readonly number[]
  /** The command's exit code. */
  code?: number
  sync?: SyncProgress
  /** Files that were brought home, and the names that those got which had changed here, too. */
  brought?: { files: number; beside: readonly string[] }
  /** As of an instance: `micros` at `at`, growing by `perHour`. */
  cost: { micros: Micros; at: number; perHour: Micros }
  most?: Micros
  /** How often it went on elsewhere. */
  moved: number
}

/** Whether something is still to come of it by itself. */
export function isJobGoing({ step }: Pick<JobView, 'step'>): boolean {
  return step !== 'done' && step !== 'failed' && step !== 'cancelled'
}

/** Projects as they were run by an account, the last one first; those that were not, by their names. */
export function lastRunFirst(
  projects: readonly ProjectView[],
  jobs: Readonly<Record<string, JobView>>,
): ProjectView[] {
  const lastRun = new Map<string, number>()
  for (const { project, createdAt } of Object.values(jobs))
    lastRun.set(project, Math.max(createdAt, lastRun.get(project) ?? 0))
  return projects.toSorted(
    (a, b) => (lastRun.get(b.id) ?? 0) - (lastRun.get(a.id) ?? 0) || a.name.localeCompare(b.name),
  )
}
