import type { InstanceView } from '#shared/instance/instance.ts'
import type { Run } from './model.ts'

/** Seconds between two readings of a machine within which its end is known well enough. */
const soon = 300

/** The run after a poll: when its command was seen to run last. `now`: epoch seconds of the account's time. */
export function seenRunning(run: Run, { state }: InstanceView, now: number): Pick<Run, 'seenAt'> {
  const runs = state === 'running' && run.step === 'running' && run.begun === true
  return { seenAt: runs ? now : run.seenAt }
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

/** Whether its command has begun on its present machine, and not all of its results are here. */
const hasOwn = ({ step }: Pick<Run, 'step'>) => step === 'running' || step === 'fetching'

/** Seconds of training that only its present machine has: what was brought to it counts. */
export function lostSince({ begunAt, wholeAt = 0, seenAt, step, brought = 0 }: Run, at: number): number {
  if (begunAt === undefined || !hasOwn({ step })) return 0
  const end = step === 'fetching' ? Math.min(at, seenAt ?? at) : at
  return wholeAt > begunAt ? Math.max(0, end - wholeAt) : Math.max(0, end - begunAt) + brought
}

/** The run once its last machine's results were copied to the present one, which saved so many seconds of training. */
export function savedBy(
  { lost, brought = 0 }: Run,
  seconds: number,
): Pick<Run, 'lost' | 'brought' | 'copying'> {
  return {
    lost: lost && { ...lost, seconds: Math.max(0, lost.seconds - seconds) },
    brought: brought + seconds,
    copying: undefined,
  }
}
