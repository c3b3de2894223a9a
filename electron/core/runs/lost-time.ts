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
  const { lost, begunAt, wholeAt = 0, seenAt, step } = run
  if (begunAt === undefined || step !== 'running') return lost
  const seconds = Math.max(0, at - Math.max(begunAt, wholeAt))
  return {
    seconds: (lost?.seconds ?? 0) + seconds,
    isUpTo: (lost?.isUpTo ?? false) || at - (seenAt ?? begunAt) > soon,
  }
}
