import { isGoing } from '#contract/automation/run.ts'
import type { InstanceState } from '#contract/instance/instance.ts'
import { hasTrait } from '#contract/instance/state-traits.ts'
import type { Problem } from '#contract/problem.ts'
import type { WatchdogOrder } from '#ssh/runs/runs.ts'
import { idleBelow } from '../instances/instance-state.ts'
import { pollsUntilGone } from '../instances/missing-polls.ts'
import { isDeepEqual } from '../state/same.ts'
import type { Run } from './model.ts'

/** Seconds that the watchdog gives Berth after a run's end, before it acts: more if Berth has a folder to download. */
const grace = { fetch: 900, plain: 300 }

/**
 * The watchdog's order for after the run while Berth is away; undefined for none. If a folder is still to be
 * downloaded, it stops the instance instead of destroying it, which keeps the folder.
 */
export function watchdogOrder(run: Run): WatchdogOrder | undefined {
  const { watchdog, afterwards, fetch, step, interrupted } = run
  if (!watchdog || afterwards === 'nothing' || interrupted || !isGoing({ step })) return undefined
  return fetch === undefined
    ? { action: afterwards, seconds: grace.plain }
    : { action: 'stop', seconds: grace.fetch }
}

/** The run after a change, marked `watchdogStale` if its watchdog has to be told of something new. */
export function withStaleWatchdog(before: Run, after: Run): Run {
  const heardOf = before.step !== 'waiting' && after.acted !== 'destroy'
  if (!heardOf || isDeepEqual(watchdogOrder(before), watchdogOrder(after))) return after
  return { ...after, watchdogStale: true }
}

/** Why the run counts as failed though its command was followed to its end; undefined where it does not. */
export function commandFailure({ code = 0, endedByUser }: Run): Problem | undefined {
  if (code === 0 || endedByUser) return undefined
  return {
    code: 'command_failed',
    message: `The command ended with exit code ${code}.`,
    advice: 'Its last lines say why.',
  }
}

/** The next step once the command has ended, once its folder is here, or when the user tries again. */
export function nextRunStep(run: Run): 'fetching' | 'acting' | 'over' | 'failed' {
  if (run.fetch !== undefined && !run.fetched) return 'fetching'
  // If the instance was stopped and started again meanwhile, someone wants it to run, so it is kept.
  if (run.afterwards !== 'nothing' && !run.interrupted && run.acted === undefined) return 'acting'
  return commandFailure(run) ? 'failed' : 'over'
}

/** The run once its command has ended: the instance of one that failed is stopped where it was to be destroyed. */
export function afterCommand(run: Run, code: number): Pick<Run, 'step' | 'afterwards' | 'code' | 'problem'> {
  const isSpared = run.afterwards === 'destroy' && commandFailure({ ...run, code }) !== undefined
  const afterwards = isSpared ? 'stop' : run.afterwards
  return { code, afterwards, ...entering({ ...run, code, afterwards }) }
}

/** The next step, with the reason where that is a failure. */
export function entering(run: Run): Pick<Run, 'step' | 'problem'> {
  const step = nextRunStep(run)
  return { step, problem: step === 'failed' ? commandFailure(run) : undefined }
}

/**
 * What becomes of a run that fails, by the code of its problem: an instance that was to be stopped or destroyed
 * afterwards is stopped, since a destroyed one takes with it what the run has left.
 */
export function afterFailure(
  { afterwards, interrupted, acted, instance }: Run,
  code: string,
): Pick<Run, 'step' | 'afterwards'> {
  const isThere = instance !== undefined && code !== instanceGone.code
  return isThere && afterwards !== 'nothing' && !interrupted && acted === undefined
    ? { step: 'acting', afterwards: 'stop' }
    : { step: 'failed', afterwards }
}

/**
 * The run with the output and the GPU load that were just read, if the load was. One that cannot be read, `unread`, says
 * nothing: only output counts then.
 */
export function observedRun(
  run: Run,
  { bytes, load }: { bytes: number; load?: number | 'unread' },
  now: number,
): Run {
  const moved = bytes > 0
  const loaded = typeof load === 'number' && load >= idleBelow
  const { stuckSince, ...rest } = run
  return {
    ...rest,
    stuckSince: stuckSince !== undefined && !moved && !loaded ? stuckSince : undefined,
    ...(moved ? { outputAt: now } : {}),
    ...(loaded ? { loadAt: now } : {}),
    ...(load === undefined ? {} : { loadUnread: load === 'unread' }),
  }
}

/** Since when there was neither output nor load, if that is longer than `stuckAfter`; else undefined. */
export function stuckSince(
  { stuckAfter, startedAt, outputAt, loadAt }: Run,
  now: number,
): number | undefined {
  if (stuckAfter === 0 || startedAt === undefined) return undefined
  const since = Math.max(startedAt, outputAt ?? 0, loadAt ?? 0)
  return now - since >= stuckAfter ? since : undefined
}

/** Whether a run forbids another one to stop or destroy their instance: while it runs, or until its folder is here. */
export function keepsItFrom({ step }: Run, action: 'stop' | 'destroy'): boolean {
  if (step === 'kept') return action === 'destroy'
  return step === 'starting' || step === 'running' || step === 'fetching'
}

/**
 * The fields of an unfinished run that a poll changes; undefined for none. `at`: epoch seconds of the account's time.
 * `missing`: how many polls in a row did not list its instance.
 */
export function runAfterPoll(
  run: Run,
  state: InstanceState | undefined,
  missing: number,
  at: number,
): Partial<Run> | undefined {
  const { step, afterwards } = run
  if (missing >= pollsUntilGone) {
    // The watchdog does not destroy an instance with a folder to download, so someone else did, and the folder is lost.
    const byWatchdog = watchdogOrder(run)?.action === 'destroy'
    if (byWatchdog || (step === 'acting' && afterwards === 'destroy'))
      return { step: 'over', acted: 'destroy', endedAt: at }
    return { step: 'failed', endedAt: run.endedAt ?? at, problem: instanceGone }
  }
  const rests = state !== undefined && hasTrait(state, 'startable')
  return rests && step !== 'acting' && !run.interrupted ? { interrupted: true } : undefined
}

export const instanceGone = { code: 'no_such_instance', message: 'Its instance is no longer on the account.' }
