import * as v from 'valibot'
import type { Problem } from '../problem.ts'
import type { Setting } from '../project/sweep.ts'
import type { Micros } from '../spending/money.ts'

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

/** Runs of a project that were agreed to together. Times in epoch seconds of the account's time. */
export interface GroupView {
  id: string
  name: string
  project: string
  step: GroupStep
  problem?: Problem
  /** Of each run, in their order. */
  settings: readonly Setting[]
  /** Which attempt of each run counts. */
  attempts: readonly number[]
  /** Machines at once, at most. */
  atOnce: number
  /** Seconds for which a machine waits after the last run; absent where none does. */
  keep?: number
  /** The folder of the results, below the project's. */
  results: string
  createdAt: number
  endedAt?: number
  /** `micros` at `at`, growing by `perHour`: of all its machines, waiting and failed attempts included. */
  cost: { micros: Micros; at: number; perHour: Micros }
  /** Its highest cost, and when all its machines are stopped at the latest; absent without a limit. */
  most?: Micros
  deadline?: number
  /** Why no further machine is rented now, and when that is tried again. */
  short?: { problem: Problem; nextTryAt: number }
}

/** A machine that waits for the next run of its project. Times in epoch seconds of the account's time. */
export interface WaitingMachineView {
  instance: number
  project: string
  since: number
  /** When it ends, and how. */
  until: number
  action: 'stop' | 'destroy'
}

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
