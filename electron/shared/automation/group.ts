import * as v from 'valibot'
import { InstanceId } from '../ids.ts'
import type { Problem } from '../problem.ts'
import type { Micros } from '../spending/money.ts'
import { LimitAction } from './limit.ts'

/** The id of a group of runs, such as a sweep: `q` and sixteen hexadecimal digits. */
export const GroupId = v.pipe(v.string(), v.regex(/^q[0-9a-f]{16}$/, 'not a sweep'))

/**
 * going: its runs are started one after another. stopped: the user stopped it. halted: `problem` says why no other run
 * is started. over: each run has ended.
 */
export const GroupStep = v.picklist(['going', 'stopped', 'halted', 'over'])
export type GroupStep = v.InferOutput<typeof GroupStep>

/** A run's place in its group: `index` from 0, and how often that one was run again. */
export const GroupPlace = v.object({ id: GroupId, index: v.number(), attempt: v.number() })
export type GroupPlace = v.InferOutput<typeof GroupPlace>

/** Runs of a project that were confirmed together, as stored and shown. Times in epoch seconds of the account's time. */
export const GroupFields = v.object({
  id: GroupId,
  name: v.string(),
  /** The environment's values of each run, in their order. */
  settings: v.array(v.record(v.string(), v.string())),
  /** How often each run was run again. Only its latest attempt counts. */
  attempts: v.array(v.number()),
  /** Machines at once, at most. */
  atOnce: v.number(),
  /** Seconds for which a machine waits after the last run; absent where none does. */
  keep: v.optional(v.number()),
  /** The folder of the results, below the project's. */
  results: v.string(),
  step: GroupStep,
  createdAt: v.number(),
  endedAt: v.optional(v.number()),
})

export interface GroupView extends v.InferOutput<typeof GroupFields> {
  project: string
  problem?: Problem
  /** `micros` at `at`, growing by `perHour`: of all its machines, waiting and failed attempts included. */
  cost: { micros: Micros; at: number; perHour: Micros }
  /** Its highest cost, and when all its machines are stopped at the latest; absent without a limit. */
  most?: Micros
  deadline?: number
  /** Why no further machine is rented now, and when that is tried again. */
  short?: { problem: Problem; nextTryAt: number }
}

/** A machine that waits for the next run of its project. Times in epoch seconds of the account's time. */
export const WaitingFields = v.object({
  instance: InstanceId,
  project: v.string(),
  /** The sweep whose next run it is for. */
  group: v.optional(GroupId),
  since: v.number(),
  /** When it ends, and how. */
  until: v.number(),
  action: LimitAction,
})
export type WaitingMachineView = v.InferOutput<typeof WaitingFields>

/** The ids of the runs that count in a group, by their index. */
export function latestRuns<Placed extends { group?: GroupPlace }>(
  { id, attempts }: Pick<GroupView, 'id' | 'attempts'>,
  runs: readonly Placed[],
): (Placed | undefined)[] {
  const latest = new Array<Placed | undefined>(attempts.length).fill(undefined)
  for (const run of runs)
    if (run.group?.id === id && run.group.attempt === attempts[run.group.index]) latest[run.group.index] = run
  return latest
}
