import * as v from 'valibot'
import { RunAction, RunProgress } from '../../contract/automation/run.ts'

/** A run as it is remembered. Its output lies in a file of its own. */
export const Run = v.object({
  id: v.string(),
  instance: v.optional(v.number()),
  rental: v.optional(v.string()),
  attemptSeries: v.optional(v.string()),
  /** Whoever rents for it does so again by itself, with another run: that this one does not begin is only noted. */
  rentedAgain: v.optional(v.boolean()),
  /** The job that it is a part of, which tells of it. */
  job: v.optional(v.string()),
  name: v.string(),
  command: v.string(),
  fetch: v.optional(v.string()),
  /** An absolute path of this machine, from its own dialog or Berth's own folder. */
  into: v.optional(v.string()),
  afterwards: RunAction,
  watchdog: v.boolean(),
  stuckAfter: v.number(),
  afterwardsIfStuck: v.boolean(),
  step: v.picklist(['waiting', 'starting', 'running', 'fetching', 'acting', 'kept', 'over', 'failed']),
  createdAt: v.number(),
  startedAt: v.optional(v.number()),
  endedAt: v.optional(v.number()),
  code: v.optional(v.number()),
  /** When there was output last, and load on the GPUs. */
  outputAt: v.optional(v.number()),
  loadAt: v.optional(v.number()),
  stuckSince: v.optional(v.number()),
  fetched: v.optional(v.boolean()),
  acted: v.optional(v.picklist(['stop', 'destroy'])),
  interrupted: v.optional(v.boolean()),
  /** Since when its folder cannot be fetched for want of a way in, and whether the user was told. */
  unreachedSince: v.optional(v.number()),
  unreachedAlerted: v.optional(v.boolean()),
  /** The watchdog has not heard yet what it is to do now: until it has, it does what it was told before. */
  watchdogStale: v.optional(v.boolean()),
  /** Why it is kept, or failed. */
  problem: v.optional(v.object({ code: v.string(), message: v.string(), advice: v.optional(v.string()) })),
  /** Bytes of its output that were seen, the first ones that are kept no more, and its last line. */
  seen: v.number(),
  dropped: v.number(),
  lastLine: v.string(),
  progress: v.optional(RunProgress),
})
export type Run = v.InferOutput<typeof Run>
