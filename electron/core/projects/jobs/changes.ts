import type { InstanceView } from '../../../contract/instance/instance.ts'
import type { Problem } from '../../../contract/problem.ts'
import type { Job } from '../model.ts'
import { costBy } from '../view.ts'

/** Fails a job at its present step; its machine is to be stopped, so that only the disk costs. */
export function failed({ step, instance }: Job, { code, message, advice }: Problem): Partial<Job> {
  return {
    step: 'failed',
    failedAt: step,
    halting: instance !== undefined || undefined,
    problem: { code, message, advice },
  }
}

/**
 * Retries a failed job. It sends the folder again, which the user may have corrected; `attemptSeries` is for a job
 * without a machine.
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

/** Moves a job to another machine: the old one is destroyed, with all results that were not downloaded. */
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

/** Ends a job; `at` in epoch seconds. */
export function ended(job: Job, step: 'done' | 'cancelled', at: number): Partial<Job> {
  return { ...spent(job, at), step, endedAt: at }
}

/** Adds the present machine's cost to the total, as it costs nothing more. */
function spent(job: Job, at: number): Pick<Job, 'spentBefore' | 'spent'> {
  return { spentBefore: costBy(job, at), spent: undefined }
}
