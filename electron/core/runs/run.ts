import * as v from 'valibot'
import { RunAction, type RunView } from '../../contract/automation/run.ts'
import type { InstanceState } from '../../contract/instance/instance.ts'
import type { Problem } from '../../contract/problem.ts'
import type { Afterwards } from '../../ssh/runs/runs.ts'
import { present } from '../present.ts'

/** A run as it is remembered. Its output lies in a file of its own. */
export const Run = v.object({
  id: v.string(),
  instance: v.exactOptional(v.number()),
  rental: v.exactOptional(v.string()),
  name: v.string(),
  command: v.string(),
  fetch: v.exactOptional(v.string()),
  /** An absolute path of this machine, from its own dialog or Berth's own folder. */
  into: v.exactOptional(v.string()),
  atEnd: RunAction,
  watchdog: v.boolean(),
  stuckAfter: v.number(),
  stuckEnds: v.boolean(),
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
  /** The watchdog has not heard yet that nothing is left to do: until it has, it ends the instance by itself. */
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

/** Percent from which on the GPUs count as busy. */
const busy = 5

/** Seconds that the watchdog waits for Berth after a run's end: longer where something is to be fetched first. */
const grace = { fetch: 900, plain: 300 }

/** What the watchdog does where Berth cannot. It never destroys what was to be fetched: it stops it, which keeps it. */
export function afterwards({ watchdog, atEnd, fetch }: Run): Afterwards | undefined {
  if (!watchdog || atEnd === 'nothing') return undefined
  return fetch === undefined
    ? { action: atEnd, seconds: grace.plain }
    : { action: 'stop', seconds: grace.fetch }
}

/** What is remembered with every step that leaves the instance as it is, so that a lost connection does not end it. */
export function stillUntold({ watchdog }: Run): { untold?: true } {
  return watchdog ? { untold: true } : {}
}

/** What comes after the end, after the fetching, and after a try again. */
export function nextStep(run: Run): 'fetching' | 'acting' | 'over' {
  if (run.fetch !== undefined && !run.fetched) return 'fetching'
  // What was stopped meanwhile and started again was started by somebody who wants it to run.
  if (run.atEnd !== 'nothing' && !run.interrupted && run.acted === undefined) return 'acting'
  return 'over'
}

/** Output and load as they were seen; a GPU that cannot be asked counts as idle. */
export function observed(run: Run, look: { bytes: number; load?: number }, now: number): Run {
  const moved = look.bytes > 0
  const loaded = (look.load ?? 0) >= busy
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
export function isDone(atEnd: 'stop' | 'destroy', state: InstanceState | undefined): boolean {
  if (state === undefined) return true
  return atEnd === 'stop' && (state === 'stopped' || state === 'stopping')
}

export function runView(run: Run, problem: Problem | undefined): RunView {
  const { stuckEnds: _, outputAt: __, loadAt: ___, untold: ____, fetched, interrupted, ...view } = run
  return present({
    ...view,
    fetched: fetched ?? false,
    interrupted: interrupted ?? false,
    problem: problem ?? run.problem,
  })
}
