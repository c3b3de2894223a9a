import * as v from 'valibot'
import { Stops } from '#contract/automation/limit.ts'
import { RunId } from '#contract/automation/run.ts'
import { InstanceId, OfferId, RentalId } from '#contract/ids.ts'
import { JobId, ProjectId } from '#contract/project/project.ts'
import type { ProjectSpec } from '#contract/project/spec.ts'
import { Keeping } from '#contract/project/spec.ts'

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

const Problem = v.object({ code: v.string(), message: v.string(), advice: v.optional(v.string()) })

/** One run of a project, as stored. */
export const Job = v.object({
  id: JobId,
  project: ProjectId,
  /** The project's folder, an absolute path on this computer. */
  folder: v.string(),
  name: v.string(),
  /** The text of the file that the user agreed to, and its parsed form. */
  text: v.string(),
  spec: v.custom<ProjectSpec>(value => typeof value === 'object' && value !== null),
  /** The offer to try first, as the user chose. */
  offer: v.optional(OfferId),
  stops: Stops,
  /** Micro-dollars per hour of the machine shown when the user agreed. */
  price: v.optional(v.number()),
  keeping: v.optional(Keeping),
  secretFiles: v.array(v.string()),
  step: Step,
  /** The step to retry, and whether the machine still has to be stopped. */
  failedAt: v.optional(Step),
  halting: v.optional(v.boolean()),
  problem: v.optional(Problem),
  /** When its machine is destroyed, or the user reminded of it, in epoch seconds. */
  keptUntil: v.optional(v.number()),
  /** The failure that is reported once the results are here. */
  outcome: v.optional(v.object({ failedAt: Step, problem: Problem })),
  /** Since when its results have been changing at the last download, epoch seconds of this computer. */
  changingSince: v.optional(v.number()),
  /** The user ended its command, so its exit code is no failure. */
  endedByUser: v.optional(v.boolean()),
  /** Whether a retry has to start the machine first. */
  starting: v.optional(v.boolean()),
  createdAt: v.number(),
  startedAt: v.optional(v.number()),
  endedAt: v.optional(v.number()),
  attemptSeries: RentalId,
  instance: v.optional(InstanceId),
  /** The GPU of the present or last machine. */
  gpu: v.optional(v.object({ name: v.string(), count: v.number() })),
  /** The folder's commit when it was last sent. */
  commit: v.optional(
    v.object({
      id: v.string(),
      branch: v.optional(v.string()),
      changed: v.optional(v.object({ files: v.number(), named: v.array(v.string()) })),
    }),
  ),
  /** The job was cancelled, and its machine or attempts still have to be ended. */
  withdrawing: v.optional(v.boolean()),
  /** Machines that it left, which still have to be destroyed. */
  leaving: v.optional(v.array(InstanceId)),
  setupRun: v.optional(RunId),
  commandRun: v.optional(RunId),
  code: v.optional(v.number()),
  /** When results were last downloaded. */
  checkpointAt: v.optional(v.number()),
  brought: v.optional(v.object({ files: v.number(), beside: v.array(v.string()) })),
  /** Micro-dollars: the cost of earlier machines, and of the present one at its last view. */
  spentBefore: v.number(),
  spent: v.optional(v.object({ micros: v.number(), at: v.number(), perHour: v.number() })),
  most: v.optional(v.number()),
  /** How often it moved to another machine. */
  moved: v.number(),
})
export type Job = v.InferOutput<typeof Job>
