import * as v from 'valibot'
import { AttemptSeriesId } from '../../contract/automation/attempts.ts'
import { RentalStops } from '../../contract/automation/guard-kinds.ts'
import { RunId } from '../../contract/automation/run.ts'
import { InstanceId } from '../../contract/ids.ts'
import { JobId, ProjectId } from '../../contract/project/project.ts'
import type { ProjectSpec } from '../../contract/project/spec.ts'

const Step = v.picklist([
  'renting',
  'sending',
  'setup',
  'running',
  'bringing',
  'ending',
  'done',
  'failed',
  'cancelled',
])

/** One run of a project as it is remembered. */
export const Job = v.object({
  id: JobId,
  project: ProjectId,
  /** The project's folder: an absolute path of this machine. */
  folder: v.string(),
  name: v.string(),
  /** The file that was agreed to, and what it says. */
  text: v.string(),
  spec: v.custom<ProjectSpec>(value => typeof value === 'object' && value !== null),
  stops: RentalStops,
  /** Micro-dollars per hour of the machine that was shown when it was agreed to. */
  price: v.optional(v.number()),
  secretFiles: v.array(v.string()),
  step: Step,
  /** What it goes on with when it is tried again, and whether its machine is still to be stopped meanwhile. */
  failedAt: v.optional(Step),
  halting: v.optional(v.boolean()),
  problem: v.optional(v.object({ code: v.string(), message: v.string(), advice: v.optional(v.string()) })),
  /** Its machine, once it can be entered, is started again before anything else. */
  starting: v.optional(v.boolean()),
  createdAt: v.number(),
  startedAt: v.optional(v.number()),
  endedAt: v.optional(v.number()),
  attemptSeries: AttemptSeriesId,
  instance: v.optional(InstanceId),
  /** Of the machine it has, or had last. */
  gpu: v.optional(v.object({ name: v.string(), count: v.number() })),
  /** What the folder stood at when it was sent last. */
  commit: v.optional(
    v.object({
      id: v.string(),
      branch: v.optional(v.string()),
      changed: v.optional(v.object({ files: v.number(), named: v.array(v.string()) })),
    }),
  ),
  /** It was cancelled, and what is rented for it, or is being, is still to go. */
  withdrawing: v.optional(v.boolean()),
  /** Machines that it has left, still to be destroyed. */
  leaving: v.optional(v.array(InstanceId)),
  setupRun: v.optional(RunId),
  commandRun: v.optional(RunId),
  code: v.optional(v.number()),
  /** When results were brought home last. */
  checkpointAt: v.optional(v.number()),
  brought: v.optional(v.object({ files: v.number(), beside: v.array(v.string()) })),
  /** Of machines that it has left, micro-dollars; and of the one it has, as it was seen last. */
  spentBefore: v.number(),
  spent: v.optional(v.object({ micros: v.number(), at: v.number(), perHour: v.number() })),
  most: v.optional(v.number()),
  /** How often it went on at another machine. */
  moved: v.number(),
})
export type Job = v.InferOutput<typeof Job>
