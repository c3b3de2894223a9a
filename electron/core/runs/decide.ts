import { isGoing } from '../../contract/automation/run.ts'
import type { InstanceState } from '../../contract/instance/instance.ts'
import type { WatchdogOrder } from '../../ssh/runs/runs.ts'
import { idleBelow } from '../instances/instance-state.ts'
import { pollsUntilGone } from '../instances/missing-polls.ts'
import { isDeepEqual } from '../state/same.ts'
import type { Run } from './model.ts'

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
export function withStaleWatchdog(before: Run, after: Run): Run {
  const heardOf = before.step !== 'waiting' && after.acted !== 'destroy'
  if (!heardOf || isDeepEqual(watchdogOrder(before), watchdogOrder(after))) return after
  return { ...after, watchdogStale: true }
}

/** What comes after the end, after the fetching, and after a try again. */
export function nextStep(run: Run): 'fetching' | 'acting' | 'over' {
  if (run.fetch !== undefined && !run.fetched) return 'fetching'
  // What was stopped meanwhile and started again was started by somebody who wants it to run.
  if (run.afterwards !== 'nothing' && !run.interrupted && run.acted === undefined) return 'acting'
  return 'over'
}

/** Output and load as they were seen; a GPU that cannot be asked counts as idle. */
export function observed(run: Run, output: { bytes: number; load?: number }, now: number): Run {
  const moved = output.bytes > 0
  const loaded = (output.load ?? 0) >= idleBelow
  const { stuckSince, ...rest } = run
  return {
    ...rest,
    stuckSince: stuckSince !== undefined && !moved && !loaded ? stuckSince : undefined,
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

/** Whether a run keeps its instance from what another is to do: while it goes on, and where its folder is not safe. */
export function keepsItFrom({ step }: Run, action: 'stop' | 'destroy'): boolean {
  if (step === 'kept') return action === 'destroy'
  return step === 'starting' || step === 'running' || step === 'fetching'
}

/**
 * What a poll makes of a run that goes on, `at` in epoch seconds of the account's time; undefined where it stays as it
 * is. `missing`: so many polls in a row were without its instance.
 */
export function afterPoll(
  run: Run,
  state: InstanceState | undefined,
  missing: number,
  at: number,
): Partial<Run> | undefined {
  const { step, afterwards } = run
  if (missing >= pollsUntilGone) {
    // A watchdog never destroys what was to be fetched: somebody else did, and the folder went with it.
    const byWatchdog = watchdogOrder(run)?.action === 'destroy'
    if (byWatchdog || (step === 'acting' && afterwards === 'destroy'))
      return { step: 'over', acted: 'destroy', endedAt: at }
    return { step: 'failed', endedAt: run.endedAt ?? at, problem: instanceGone }
  }
  return state === 'stopped' && step !== 'acting' && !run.interrupted ? { interrupted: true } : undefined
}

const instanceGone = { code: 'no_such_instance', message: 'Its instance is no longer on the account.' }
