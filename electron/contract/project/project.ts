import * as v from 'valibot'
import type { Limit } from '../automation/limit.ts'
import type { FolderScan, SyncProgress } from '../instance/sync.ts'
import type { OfferView } from '../market/offer.ts'
import type { Problem } from '../problem.ts'
import type { Micros } from '../spending/money.ts'
import type { Keeping, ProjectSpec } from './spec.ts'
import type { SpecProblem } from './spec-problem.ts'

/** The id of a project: `p` and sixteen hexadecimal digits. */
export const ProjectId = v.pipe(v.string(), v.regex(/^p[0-9a-f]{16}$/, 'not a project'))
/** The id of one run of a project, from its folder to its results: `j` and sixteen hexadecimal digits. */
export const JobId = v.pipe(v.string(), v.regex(/^j[0-9a-f]{16}$/, 'not a job'))

/** A folder of this machine that can be run on a rented machine. */
export interface ProjectView {
  id: string
  name: string
  /** The folder as people write it: `~/code/mnist`. The page cannot choose it. */
  folder: string
  /** Its `berth.yaml`; absent if there is none, or it has errors. */
  spec?: ProjectSpec
  /** The errors in that file. */
  problems: readonly SpecProblem[]
  /** Why the folder or the file cannot be read. */
  problem?: Problem
}

/** Whether its folder is readable and has no file, so that the page shows a form instead. */
export function lacksSpec({ spec, problem, problems }: ProjectView): boolean {
  return spec === undefined && problem === undefined && problems.length === 0
}

/** A job's plan, before anything costs money. */
export interface ProjectPlan {
  /** SHA-256 of the file's text, in hex, to which the user agrees. */
  content: string
  spec: ProjectSpec
  /** The offer that would be rented now; absent if none fits. */
  offer?: OfferView
  /** The first offers that fit, the one above among them; prices per hour with disk. */
  offers: readonly { offer: OfferView; price: Micros }[]
  /** Why none would be, where that is not for what the project asks. */
  problem?: Problem
  /** Disk included. */
  pricePerHour?: Micros
  stops: Limit[]
  /** Its highest cost, failed attempts included; absent without a limit. */
  most?: Micros
  /** Seconds after which it is stopped at the latest; absent without a limit. */
  longest?: number
  /** How long its machine is kept if it fails. */
  keeping: Keeping
  scan: FolderScan
  /** Secrets that it needs and that have no value yet. */
  missingSecrets: readonly string[]
  /** Whether the user has agreed to this content before. */
  known: boolean
}

/**
 * renting: a machine is being found and connected to. sending: the folder is being uploaded. setup, running. bringing:
 * the results are being downloaded. ending: the machine is being stopped or destroyed. done. failed: it waits for the
 * user, and `problem` says why. cancelled.
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
  /** When the command began, and when the job ended. */
  startedAt?: number
  endedAt?: number
  attemptSeries: string
  instance?: number
  gpu?: { name?: string; count?: number }
  /**
   * The git commit of its folder when it was last sent, if it is in a repository; `changed`: how many tracked files
   * differed from it, if known, and the first of them.
   */
  commit?: { id: string; branch?: string; changed?: { files: number; named: string[] } }
  /** The ids of the runs of its setup and its command. */
  setup?: string
  run?: string
  /** The ports in its file, while its command runs. */
  ports?: readonly number[]
  /** The command's exit code. */
  code?: number
  sync?: SyncProgress
  /** The number of downloaded files, and the names of those stored beside a file that had changed here too. */
  brought?: { files: number; beside: readonly string[] }
  /** `micros` at `at`, growing by `perHour`. */
  cost: { micros: Micros; at: number; perHour: Micros }
  most?: Micros
  /** When the machine of a failed run is destroyed, or the user reminded of it. */
  keptUntil?: { at: number; destroys: boolean }
  /** Whether a failed run has results on its machine that can be downloaded again. */
  fetchable?: boolean
  /** How often it moved to another machine. */
  moved: number
}

/** Whether the job is in progress. */
export function isJobGoing({ step }: Pick<JobView, 'step'>): boolean {
  return step !== 'done' && step !== 'failed' && step !== 'cancelled'
}

/** Projects in the order of their last jobs, newest first; those without jobs at the end, by name. */
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
