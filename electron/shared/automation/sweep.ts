import * as v from 'valibot'
import { InstanceId } from '../ids.ts'
import type { Problem } from '../problem.ts'
import type { Micros } from '../spending/money.ts'
import { LimitAction } from './limit.ts'
import type { Waiting } from './waiting.ts'

/** The id of a group of runs, such as a sweep: `q` and sixteen hexadecimal digits. */
export const SweepId = v.pipe(v.string(), v.regex(/^q[0-9a-f]{16}$/, 'not a sweep'))

/**
 * going: its runs are started one after another. stopped: the user stopped it. halted: `problem` says why no other run
 * is started. over: each run has ended.
 */
export const SweepStep = v.picklist(['going', 'stopped', 'halted', 'over'])
export type SweepStep = v.InferOutput<typeof SweepStep>

/** A run's place in its group: `index` from 0, and how often that one was run again. */
export const SweepPlace = v.object({ id: SweepId, index: v.number(), attempt: v.number() })
export type SweepPlace = v.InferOutput<typeof SweepPlace>

/** Runs of a project that were confirmed together, as stored and shown. Times in epoch seconds of the account's time. */
export const SweepFields = v.object({
  id: SweepId,
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
  step: SweepStep,
  createdAt: v.number(),
  endedAt: v.optional(v.number()),
})

export interface SweepView extends v.InferOutput<typeof SweepFields> {
  project: string
  problem?: Problem
  /** `micros` at `at`, growing by `perHour`: of all its machines, waiting and failed attempts included. */
  cost: { micros: Micros; at: number; perHour: Micros }
  /** Its highest cost, and when all its machines are stopped at the latest; absent without a limit. */
  most?: Micros
  deadline?: number
  /** What was agreed to: micro-dollars per hour of each machine, and at most from a start until its limits. */
  agreed: { price?: Micros; most?: Micros }
  /** Which of its limits that is: seconds, or what its machines cost. */
  limit?: { seconds: number } | { micros: Micros }
  /** What its next run waits for, where that has not begun and none of its runs shows it. */
  waiting?: Waiting
}

/** A machine that waits for the next run of its project. Times in epoch seconds of the account's time. */
export const WaitingFields = v.object({
  instance: InstanceId,
  project: v.string(),
  /** The sweep whose next run it is for. */
  sweep: v.optional(SweepId),
  since: v.number(),
  /** When it ends, and how. */
  until: v.number(),
  action: LimitAction,
})
export type WaitingMachineView = v.InferOutput<typeof WaitingFields>

/** The ids of the runs that count in a group, by their index. */
export function latestRuns<Placed extends { sweep?: SweepPlace }>(
  { id, attempts }: Pick<SweepView, 'id' | 'attempts'>,
  runs: readonly Placed[],
): (Placed | undefined)[] {
  const latest = new Array<Placed | undefined>(attempts.length).fill(undefined)
  for (const run of runs)
    if (run.sweep?.id === id && run.sweep.attempt === attempts[run.sweep.index]) latest[run.sweep.index] = run
  return latest
}
