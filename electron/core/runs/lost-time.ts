import type { InstanceView } from '#shared/instance/instance.ts'
import { checkpointEvery } from '#shared/project/store.ts'
import type { RunStatus } from '#ssh/runs/runs.ts'
import type { Saved } from '../departures/step.ts'
import type { Run } from './model.ts'

/** Seconds between two readings of a machine within which its end is known well enough. */
const soon = 300

/** The run after a poll: when its command was seen to run last, and at what price. `now`: epoch seconds of the account's time. */
export function seenRunning(
  run: Run,
  { state, costPerHour }: InstanceView,
  now: number,
): Pick<Run, 'seenAt' | 'paidPerHour'> {
  const runs = state === 'running' && run.step === 'running' && run.begun === true
  return runs
    ? { seenAt: now, paidPerHour: costPerHour }
    : { seenAt: run.seenAt, paidPerHour: run.paidPerHour }
}

/**
 * The training that a run has lost once it leaves its machine: what its command did there since the last whole download
 * of its results, or since it began. It may be less if nobody watched when the machine ended.
 */
export function lostBy(run: Run, at: number): Run['lost'] {
  const { lost, begunAt, seenAt, step } = run
  if (begunAt === undefined || !hasOwn({ step })) return lost
  return {
    seconds: (lost?.seconds ?? 0) + lostSince(run, at),
    isUpTo: (lost?.isUpTo ?? false) || at - (seenAt ?? begunAt) > soon,
  }
}

/** From when its command's time on its machine counts: not while what it is to go on from is still put in its place there. */
export function begunBy({ begunAt, step }: Run, state: RunStatus['state'], now: number): number | undefined {
  return state === 'starting' && step === 'running' ? now : begunAt
}

/** What that cost, in micro-dollars, at the price at which its machines were last seen to run. */
export function lostCostBy(run: Run, at: number): number {
  const { lostCost = 0, paidPerHour = 0 } = run
  return lostCost + Math.round((lostSince(run, at) * paidPerHour) / 3600)
}

/** Whether its command has begun on its present machine, and not all of its results are here. */
const hasOwn = ({ step }: Pick<Run, 'step'>) => step === 'running' || step === 'fetching'

/** Seconds of training that only its present machine has: what was brought to it counts. */
export function lostSince({ begunAt, wholeAt = 0, seenAt, step, brought = 0 }: Run, at: number): number {
  if (begunAt === undefined || !hasOwn({ step })) return 0
  const end = step === 'fetching' ? Math.min(at, seenAt ?? at) : at
  return wholeAt > begunAt ? Math.max(0, end - wholeAt) : Math.max(0, end - begunAt) + brought
}

/**
 * What a machine that a run leaves has alone, in seconds of training, and the run's loss with it, where what was downloaded is no
 * longer here: all may begin anew. `left`: since when, and what it was with the download, 0 where its command never began.
 */
export function lostWithDownloads(
  { lost, lostCost = 0, startedAt }: Run,
  { since, seconds }: { since: number; seconds: number },
): { seconds: number } & Pick<Run, 'lost' | 'lostCost'> {
  const known = Math.max(lost?.seconds ?? 0, seconds)
  const more = Math.max(0, since - (startedAt ?? since) - known)
  if (seconds === 0 || more === 0) return { seconds: seconds + more }
  return {
    seconds: seconds + more,
    lost: { seconds: known + more, isUpTo: true },
    lostCost: Math.round((lostCost * (known + more)) / known),
  }
}

/** Seconds of training that its machine's end would take now, where three checkpoints should have saved it. */
export function overdueTraining(run: Run, now: number): number | undefined {
  const every = run.project && checkpointEvery(run.project.spec)
  if (every === undefined || run.step !== 'running') return undefined
  const lost = lostSince(run, now)
  return lost > 3 * every ? lost : undefined
}

/** The run once its last machine's results were copied to the present one: what they may have saved may be lost all the same. */
export function savedBy(
  { lost, lostCost = 0, brought = 0 }: Run,
  { seconds, isUpTo }: Saved,
): Pick<Run, 'lost' | 'lostCost' | 'brought' | 'copying'> {
  const after = { brought: brought + seconds, copying: undefined }
  if (isUpTo) return { lost: lost && { ...lost, isUpTo: true }, lostCost, ...after }
  const left = Math.max(0, (lost?.seconds ?? 0) - seconds)
  return {
    lost: lost && { ...lost, seconds: left },
    lostCost: left === 0 ? 0 : Math.round((lostCost * left) / (lost?.seconds ?? left)),
    ...after,
  }
}

/** Seconds for which a run waits for its machine to come back. */
const awayFor = 900

/** Until when a run waits for a machine that its host took off the net, in epoch seconds; undefined for others. */
export function awayUntil({ state, history }: InstanceView): number | undefined {
  if (state !== 'offline' && state !== 'silent') return undefined
  const since = history.findLastIndex(change => change.state !== 'offline' && change.state !== 'silent')
  const at = history[since + 1]?.at
  return at === undefined ? undefined : at + awayFor
}
