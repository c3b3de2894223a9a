import * as v from 'valibot'
import type { Limit } from '../automation/limit.ts'
import type { RunView } from '../automation/run.ts'
import { rate } from '../format/money.ts'
import { named } from '../format/name.ts'
import type { FolderScan } from '../instance/sync.ts'
import type { OfferView } from '../market/offer.ts'
import type { Problem } from '../problem.ts'
import type { Micros } from '../spending/money.ts'
import type { Borrowed } from './borrowed.ts'
import type { Keeping, ProjectSpec } from './spec.ts'
import type { Setting } from './sweep.ts'

/** The id of a project: `p` and sixteen hexadecimal digits. */
export const ProjectId = v.pipe(v.string(), v.regex(/^p[0-9a-f]{16}$/, 'not a project'))

/** A folder of this machine that can be run on a rented machine. */
export interface ProjectView {
  id: string
  name: string
  /** The folder as people write it: `~/code/mnist`. The page cannot choose it. */
  folder: string
  /** Its `berth.yaml`; absent if there is none, or it has errors. */
  spec?: ProjectSpec
  /** SHA-256 of its text in hexadecimal, with `spec`. */
  content?: string
  /** The errors in that file. */
  problems: readonly SpecProblem[]
  /** Why the folder or the file cannot be read. */
  problem?: Problem
}

/** Whether its folder is readable and has no file, so that the page shows a form instead. */
export function lacksSpec({ spec, problem, problems }: ProjectView): boolean {
  return spec === undefined && problem === undefined && problems.length === 0
}

/** The plan of a run, before anything costs money. */
export interface ProjectPlan {
  /** SHA-256 of the file's text, in hex, to which the user agrees. */
  content: string
  spec: ProjectSpec
  /** The offer that would be rented now; absent if none fits. */
  offer?: OfferView
  /** The first offers that fit, the one above among them; prices per hour with disk. */
  offers: readonly { offer: OfferView; price: Micros }[]
  /** Where none fits and the run waits for one: the cheapest that only its price keeps out. */
  above?: { offer: OfferView; price: Micros }
  /** Why none would be, where the project’s requirements aren’t the reason. */
  problem?: Problem
  /** Disk included; of all its machines. */
  pricePerHour?: Micros
  /** The volume that is mounted: one of the account's, with its machine, or one that is created with it. */
  volume?: PlannedVolume
  /** Several machines of one cluster, the first node's first; prices per hour with disk. */
  nodes?: readonly { offer: OfferView; price: Micros }[]
  /** Where no cluster has room for them: one machine with as many GPUs. */
  alone?: { offer: OfferView; price: Micros }
  limits: Limit[]
  /** How long its machine is kept if it fails. */
  keeping: Keeping
  /** A sweep's runs, the machines that wait for them, and those that would be rented now; prices per hour with disk. */
  sweep?: {
    settings: readonly Setting[]
    atOnce: number
    waiting: readonly WaitingForPlan[]
    machines: readonly { offer: OfferView; price: Micros }[]
  }
  /** A machine of an earlier run that waits, and is used at once. */
  waiting?: WaitingForPlan
  scan: FolderScan
  /** Secrets that it needs and that have no value yet. */
  missingSecrets: readonly string[]
  /** What it uses of the user's without having been allowed to. */
  borrowed: readonly Borrowed[]
  /** With copies from or to clouds, whether their key can reach all instances. */
  wideKey: boolean
  /** Whether the user has agreed to this content before. */
  known: boolean
}

export interface WaitingForPlan {
  instance: number
  pricePerHour: Micros
  /** Of its disk alone, micro-dollars per hour, where known. */
  disk?: Micros
  until: number
}

/** The machines that a sweep uses first; undefined without any. */
export function waitingForPlanWords(waiting: readonly WaitingForPlan[]): string | undefined {
  const names = waiting.map(({ instance, pricePerHour }) => `#${instance} at ${rate(pricePerHour)}`)
  if (names.length === 0) return undefined
  return `${named(names)} ${names.length === 1 ? 'is waiting, and takes the first run' : 'are waiting, and take the first runs'}.`
}

export interface PlannedVolume {
  name: string
  at: string
  /** Absent if it is created. */
  id?: number
  machineId?: number
  /** GB. */
  size?: number
  /** Of one that exists, as the service says; it's charged beside the machine, until it is deleted. */
  costPerHour?: Micros
}

/** Projects in the order of their last runs, newest first; those without runs at the end, by name. */
export function lastRunFirst(
  projects: readonly ProjectView[],
  runs: Readonly<Record<string, RunView>>,
): ProjectView[] {
  const lastRun = new Map<string, number>()
  for (const { project, createdAt } of Object.values(runs))
    if (project !== undefined) lastRun.set(project, Math.max(createdAt, lastRun.get(project) ?? 0))
  return projects.toSorted(
    (a, b) => (lastRun.get(b.id) ?? 0) - (lastRun.get(a.id) ?? 0) || a.name.localeCompare(b.name),
  )
}

/** An error in `berth.yaml`. Lines and columns begin at 1. */
export interface SpecProblem {
  line: number
  column: number
  message: string
}

/** An error with its place: `line 2, column 1: runn is not known.` */
export function specProblemWords({ line, column, message }: SpecProblem): string {
  return `line ${line}, column ${column}: ${message}`
}
