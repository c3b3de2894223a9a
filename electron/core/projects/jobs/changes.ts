import type { InstanceView } from '../../../contract/instance/instance.ts'
import type { Problem } from '../../../contract/problem.ts'
import type { Job } from '../model.ts'
import { costBy } from '../view.ts'

/** A job that fails at the step it is at: what its machine costs ends with it, but for the disk. */
export function failed({ step, instance }: Job, { code, message, advice }: Problem): Partial<Job> {
  return {
    step: 'failed',
    failedAt: step,
    halting: instance !== undefined || undefined,
    problem: { code, message, advice },
  }
}

/**
 * A job that failed, and goes on. What was mended in the folder is sent first; `attemptSeries` is for one that has
 * no machine.
 */
export function againFromFailure(
  job: Job,
  machine: InstanceView | undefined,
  attemptSeries: string,
): Partial<Job> {
  const { failedAt = 'renting' } = job
  const step = failedAt === 'setup' || failedAt === 'running' ? 'sending' : failedAt
  return {
    step,
    failedAt: undefined,
    halting: undefined,
    problem: undefined,
    starting: machine && machine.state !== 'running' ? true : undefined,
    attemptSeries: step === 'renting' ? attemptSeries : job.attemptSeries,
    setupRun: failedAt === 'setup' ? undefined : job.setupRun,
    commandRun: step === 'bringing' ? job.commandRun : undefined,
  }
}

/** A job that goes on, on another machine: the one that it leaves is destroyed, with what was not brought home. */
export function elsewhere(job: Job, attemptSeries: string, at: number): Partial<Job> {
  const { instance, leaving = [], moved } = job
  return {
    ...spent(job, at),
    step: 'renting',
    attemptSeries,
    instance: undefined,
    leaving: instance === undefined ? leaving : [...leaving, instance],
    setupRun: undefined,
    commandRun: undefined,
    moved: moved + 1,
  }
}

/** A job that is over; `at` in epoch seconds. */
export function ended(job: Job, step: 'done' | 'cancelled', at: number): Partial<Job> {
  return { ...spent(job, at), step, endedAt: at }
}

/** What it has cost is known once its machine costs nothing more. */
function spent(job: Job, at: number): Pick<Job, 'spentBefore' | 'spent'> {
  return { spentBefore: costBy(job, at), spent: undefined }
}
