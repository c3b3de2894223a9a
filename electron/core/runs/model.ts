import * as v from 'valibot'
import { RunAction, RunProgress } from '#contract/automation/run.ts'

/** A run as stored. Its output has files of its own. */
export const Run = v.object({
  id: v.string(),
  instance: v.optional(v.number()),
  rental: v.optional(v.string()),
  attemptSeries: v.optional(v.string()),
  /** Its watch rents again with another run, so a start that fails is only noted in Activity. */
  rentedAgain: v.optional(v.boolean()),
  /** The job that it belongs to, which sends the alerts. */
  job: v.optional(v.string()),
  name: v.string(),
  command: v.string(),
  fetch: v.optional(v.string()),
  /** An absolute path on this computer, chosen in its dialog, or Berth's own folder. */
  into: v.optional(v.string()),
  /** The name of the download in `into`, once it has begun. */
  as: v.optional(v.string()),
  afterwards: RunAction,
  watchdog: v.boolean(),
  stuckAfter: v.number(),
  afterwardsIfStuck: v.boolean(),
  step: v.picklist(['waiting', 'starting', 'running', 'fetching', 'acting', 'kept', 'over', 'failed']),
  createdAt: v.number(),
  startedAt: v.optional(v.number()),
  endedAt: v.optional(v.number()),
  code: v.optional(v.number()),
  /** The user ended its command, whose exit code then means nothing. */
  endedByUser: v.optional(v.boolean()),
  /** When there was last output, and load on the GPUs. */
  outputAt: v.optional(v.number()),
  loadAt: v.optional(v.number()),
  stuckSince: v.optional(v.number()),
  /** The last reading of its GPUs told no load, so only output counts. */
  loadUnread: v.optional(v.boolean()),
  fetched: v.optional(v.boolean()),
  acted: v.optional(v.picklist(['stop', 'destroy'])),
  interrupted: v.optional(v.boolean()),
  /** Since when its folder cannot be downloaded without a connection, and whether the user was alerted. */
  unreachedSince: v.optional(v.number()),
  unreachedAlerted: v.optional(v.boolean()),
  /** Since when its folder has been changing while it is downloaded, epoch seconds of this computer. */
  changingSince: v.optional(v.number()),
  /** The watchdog has not received its new order, and still follows the previous one. */
  watchdogStale: v.optional(v.boolean()),
  /** Why its folder is not here; once there is nothing left to do, why the run failed. */
  problem: v.optional(v.object({ code: v.string(), message: v.string(), advice: v.optional(v.string()) })),
  /** Bytes of its output so far, how many of the first ones are no longer stored, and its last line. */
  seen: v.number(),
  dropped: v.number(),
  lastLine: v.string(),
  progress: v.optional(RunProgress),
})
export type Run = v.InferOutput<typeof Run>
