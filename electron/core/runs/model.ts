import * as v from 'valibot'
import { RunAction } from '../../contract/automation/run.ts'

/** A run as it is remembered. Its output lies in a file of its own. */
export const Run = v.object({
  id: v.string(),
  instance: v.exactOptional(v.number()),
  rental: v.exactOptional(v.string()),
  failover: v.exactOptional(v.string()),
  /** Whoever rents for it does so again by itself, with another run: that this one does not begin is only noted. */
  rentedAgain: v.exactOptional(v.boolean()),
  name: v.string(),
  command: v.string(),
  fetch: v.exactOptional(v.string()),
  /** An absolute path of this machine, from its own dialog or Berth's own folder. */
  into: v.exactOptional(v.string()),
  afterwards: RunAction,
  watchdog: v.boolean(),
  stuckAfter: v.number(),
  afterwardsIfStuck: v.boolean(),
  step: v.picklist(['waiting', 'starting', 'running', 'fetching', 'acting', 'kept', 'over', 'failed']),
  createdAt: v.number(),
  startedAt: v.exactOptional(v.number()),
  endedAt: v.exactOptional(v.number()),
  code: v.exactOptional(v.number()),
  /** When there was output last, and load on the GPUs. */
  outputAt: v.exactOptional(v.number()),
  loadAt: v.exactOptional(v.number()),
  stuckSince: v.exactOptional(v.number()),
  fetched: v.exactOptional(v.boolean()),
  acted: v.exactOptional(v.picklist(['stop', 'destroy'])),
  interrupted: v.exactOptional(v.boolean()),
  /** Since when its folder cannot be fetched for want of a way in, and whether the user was told. */
  unreachedSince: v.exactOptional(v.number()),
  unreachedTold: v.exactOptional(v.boolean()),
  /** The watchdog has not heard yet what it is to do now: until it has, it does what it was told before. */
  untold: v.exactOptional(v.boolean()),
  /** Why it is kept, or failed. */
  problem: v.exactOptional(
    v.object({ code: v.string(), message: v.string(), advice: v.exactOptional(v.string()) }),
  ),
  /** Bytes of its output that were seen, the first ones that are kept no more, and its last line. */
  seen: v.number(),
  dropped: v.number(),
  lastLine: v.string(),
})
export type Run = v.InferOutput<typeof Run>

/** As it lies on disk, where two of its fields may still have their earlier names. */
export const StoredRun = v.pipe(
  v.record(v.string(), v.unknown()),
  v.transform(({ atEnd, stuckEnds, ...run }) => ({
    ...(atEnd === undefined ? {} : { afterwards: atEnd }),
    ...(stuckEnds === undefined ? {} : { afterwardsIfStuck: stuckEnds }),
    ...run,
  })),
  Run,
)
