import * as v from 'valibot'
import { isGoing, RunAction, type RunView } from '../../contract/automation/run.ts'
import type { InstanceState } from '../../contract/instance/instance.ts'
import type { Problem } from '../../contract/problem.ts'
import type { WatchdogOrder } from '../../ssh/runs/runs.ts'
import { idleBelow } from '../instances/idle.ts'
import { present } from '../state/present.ts'
import { same } from '../state/same.ts'

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
export const KeptRun = v.pipe(
  v.record(v.string(), v.unknown()),
  v.transform(({ atEnd, stuckEnds, ...run }) => ({
    ...(atEnd === undefined ? {} : { afterwards: atEnd }),
    ...(stuckEnds === undefined ? {} : { afterwardsIfStuck: stuckEnds }),
    ...run,
  })),
  Run,
)

/** Seconds that the watchdog waits for Berth after a run's end: longer where something is to be fetched first. */
const grace = { fetch: 900, plain: 300 }

/**
 * What the watchdog is to do where Berth cannot, as things stand. It never destroys what was to be fetched: it stops it,
 * which keeps it. Undefined where it is to do nothing.
 */
export function watchdogOrder(run: Run): WatchdogOrder | undefined {
  const { watchdog, afterwards, fetch, step, interrupted } = run
  if (!watchdog || afterwards === 'nothing' || interrupted || !isGoing({ step })) return undefined
  return fetch === undefined
    ? { action: afterwards, seconds: grace.plain }
    : { action: 'stop', seconds: grace.fetch }
}

/** The same run where its watchdog does the same as before; else with the note that it is still to hear of it. */
export function retold(before: Run, after: Run): Run {
  const heardOf = before.step !== 'waiting' && after.acted !== 'destroy'
  if (!heardOf || same(watchdogOrder(before), watchdogOrder(after))) return after
  return { ...after, untold: true }
}

/** What comes after the end, after the fetching, and after a try again. */
export function nextStep(run: Run): 'fetching' | 'acting' | 'over' {
  if (run.fetch !== undefined && !run.fetched) return 'fetching'
  // What was stopped meanwhile and started again was started by somebody who wants it to run.
  if (run.afterwards !== 'nothing' && !run.interrupted && run.acted === undefined) return 'acting'
  return 'over'
}

/** Output and load as they were seen; a GPU that cannot be asked counts as idle. */
export function observed(run: Run, look: { bytes: number; load?: number }, now: number): Run {
  const moved = look.bytes > 0
  const loaded = (look.load ?? 0) >= idleBelow
  const { stuckSince, ...rest } = run
  return {
    ...rest,
    ...(stuckSince !== undefined && !moved && !loaded ? { stuckSince } : {}),
    ...(moved ? { outputAt: now } : {}),
    ...(loaded ? { loadAt: now } : {}),
  }
}

/** Since when it seems stuck; undefined while it does not. */
export function stuckSince(
  { stuckAfter, startedAt, outputAt, loadAt }: Run,
  now: number,
): number | undefined {
  if (stuckAfter === 0 || startedAt === undefined) return undefined
  const since = Math.max(startedAt, outputAt ?? 0, loadAt ?? 0)
  return now - since >= stuckAfter ? since : undefined
}

/** Whether an instance in that state is being acted on no more: it is as it was to become. */
export function isDone(afterwards: 'stop' | 'destroy', state: InstanceState | undefined): boolean {
  if (state === undefined) return true
  return afterwards === 'stop' && (state === 'stopped' || state === 'stopping')
}

/** What keeps it from going on, and when the next try comes, epoch seconds of the account's time. */
export interface Hindrance {
  problem: Problem
  nextTryAt?: number
}

export function runView(run: Run, hindrance: Hindrance | undefined): RunView {
  const {
    afterwardsIfStuck: _,
    outputAt: __,
    loadAt: ___,
    unreachedSince,
    unreachedTold: ____,
    rentedAgain: _____,
    ...view
  } = run
  const { problem, nextTryAt } = hindrance ?? {}
  return present({
    ...view,
    fetched: run.fetched ?? false,
    interrupted: run.interrupted ?? false,
    untold: run.untold ?? false,
    unreached: unreachedSince === undefined ? undefined : present({ since: unreachedSince, nextTryAt }),
    problem: problem ?? run.problem,
  })
}
