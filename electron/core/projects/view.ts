import type { SyncProgress } from '#contract/instance/sync.ts'
import type { Problem } from '#contract/problem.ts'
import { keepingOf } from '#contract/project/bounds.ts'
import type { JobView } from '#contract/project/project.ts'
import type { Keeping } from '#contract/project/spec.ts'
import type { Micros } from '#contract/spending/money.ts'
import type { Job } from './model.ts'
import { portsOf, resultsOf } from './plan.ts'

/** A job's cost up to a moment of the account's time. */
export function jobCostBy({ spentBefore, spent, endedAt }: Job, at: number): Micros {
  if (!spent) return spentBefore
  const until = Math.min(at, endedAt ?? at)
  return spentBefore + spent.micros + Math.max(0, Math.floor(((until - spent.at) * spent.perHour) / 3600))
}

/** How long the job's machine is kept if it fails: as the user chose, else by its file. */
export function keeping(job: Pick<Job, 'keeping' | 'spec'>): Keeping {
  return job.keeping ?? keepingOf(job.spec)
}

/** The unstored part of a job's view. */
interface Shown {
  sync: SyncProgress | undefined
  /** Why something has to be retried. */
  problem: Problem | undefined
}

export function jobView(job: Job, { sync, problem }: Shown): JobView {
  const { spentBefore, spent, setupRun, commandRun } = job
  const { id, project, name, step, failedAt, createdAt, startedAt, endedAt, attemptSeries, instance, code } =
    job
  return {
    id,
    project,
    name,
    step,
    failedAt,
    problem: job.problem ?? problem,
    createdAt,
    startedAt,
    endedAt,
    attemptSeries,
    instance,
    gpu: job.gpu,
    commit: job.commit,
    setup: setupRun,
    run: commandRun,
    ports: step === 'running' ? portsOf(job.spec) : undefined,
    code,
    sync,
    brought: job.brought,
    cost: spent
      ? { ...spent, micros: spent.micros + spentBefore, perHour: endedAt === undefined ? spent.perHour : 0 }
      : { micros: spentBefore, at: createdAt, perHour: 0 },
    most: job.most,
    keptUntil:
      step === 'failed' && job.keptUntil !== undefined
        ? { at: job.keptUntil, destroys: keeping(job).destroys }
        : undefined,
    fetchable: step === 'failed' && startedAt !== undefined && resultsOf(job.spec).length > 0,
    moved: job.moved,
  }
}
