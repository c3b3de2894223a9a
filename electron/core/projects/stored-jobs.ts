import type { SyncProgress } from '#contract/instance/sync.ts'
import type { Problem } from '#contract/problem.ts'
import { isJobGoing } from '#contract/project/project.ts'
import type { AccountContext } from '../account-context.ts'
import { type Collection, openCollection } from '../storage/collection.ts'
import { Job } from './model.ts'
import { jobView } from './view.ts'

/** The jobs of one account, as stored and as shown in State. */
export interface StoredJobs extends Collection<Job, string> {
  /** Progress of transfers and temporary problems, which are shown but not stored. */
  noteProgress(id: string, progress: SyncProgress | undefined): void
  noteProblem(id: string, problem: Problem | undefined): void
}

/** The number of ended jobs that are stored. */
const mostOver = 200

export async function openStoredJobs(context: AccountContext): Promise<StoredJobs> {
  const progress = new Map<string, SyncProgress>()
  const problems = new Map<string, Problem>()
  const jobs = await openCollection(context, {
    name: 'jobs',
    schema: Job,
    key: ({ id }) => id,
    missing: { code: 'no_such_job', message: 'That run is no longer on the list.' },
    prune: {
      isOver: ({ step, leaving, withdrawing }) => !isJobGoing({ step }) && !leaving && !withdrawing,
      most: mostOver,
    },
    view: all => ({
      jobs: Object.fromEntries(
        all.map(job => [job.id, jobView(job, { sync: progress.get(job.id), problem: problems.get(job.id) })]),
      ),
    }),
  })

  function note<Value>(values: Map<string, Value>, id: string, value: Value | undefined): void {
    if (value === undefined && !values.has(id)) return
    if (value === undefined) values.delete(id)
    else values.set(id, value)
    jobs.show()
  }

  return {
    ...jobs,
    noteProgress: (id, told) => note(progress, id, told),
    noteProblem: (id, problem) => note(problems, id, problem),
  }
}
