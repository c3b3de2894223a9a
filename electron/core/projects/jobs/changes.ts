import type { InstanceView } from '#contract/instance/instance.ts'
import type { Problem } from '#contract/problem.ts'
import type { Job } from '../model.ts'
import { jobCostBy, keeping } from '../view.ts'
import { machineGone } from './decide.ts'

/**
 * Fails a job at its present step, or with the failure that its download was for; its machine is to be stopped, so that
 * only the disk costs, and kept for a while. `at` in epoch seconds.
 */
export function failed(job: Job, { code, message, advice }: Problem, at: number): Partial<Job> {
  const { step, instance, outcome } = job
  const isOutcome = outcome?.problem.code === code
  return {
    step: 'failed',
    failedAt: outcome?.failedAt ?? step,
    halting: instance !== undefined || undefined,
    keptUntil: instance === undefined ? undefined : at + keeping(job).seconds,
    changingSince: undefined,
    problem:
      outcome && !isOutcome
        ? { ...outcome.problem, message: `${outcome.problem.message} ${message}` }
        : { code, message, advice },
  }
}

/** Downloads the results of a failed job again, which then fails as before. */
export function fetchingAgain(job: Job, machine: InstanceView): Partial<Job> {
  const { failedAt = 'bringing', problem = machineGone, outcome } = job
  return {
    ...afresh(machine),
    step: 'bringing',
    outcome: outcome ?? { failedAt, problem },
  }
}

/** What a job no longer has once it goes on from a failure. */
function afresh(machine: InstanceView | undefined): Partial<Job> {
  return {
    failedAt: undefined,
    halting: undefined,
    problem: undefined,
    keptUntil: undefined,
    starting: machine && machine.state !== 'running' ? true : undefined,
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
    ...afresh(machine),
    step,
    outcome: undefined,
    endedByUser: undefined,
    code: step === 'bringing' ? job.code : undefined,
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
  return { spentBefore: jobCostBy(job, at), spent: undefined }
}
