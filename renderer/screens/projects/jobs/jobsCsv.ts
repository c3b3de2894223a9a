import { csv, dollars } from '#contract/format/csv.ts'
import type { JobView } from '#contract/project/project.ts'
import { jobCost } from '#renderer/features/projects/jobWords.ts'

/** One row for each run. `now` in epoch seconds of the account's time; times are ISO 8601. */
export function jobsCsv(jobs: readonly JobView[], now: number): string {
  const time = (at: number | undefined) => (at === undefined ? '' : new Date(at * 1000).toISOString())
  const rows = jobs.map(job => [
    job.name,
    time(job.createdAt),
    time(job.startedAt),
    time(job.endedAt),
    job.step,
    job.failedAt ?? '',
    job.code ?? '',
    job.gpu?.name ?? '',
    job.gpu?.count ?? '',
    job.instance ?? '',
    job.commit?.id ?? '',
    job.commit?.branch ?? '',
    dollars(jobCost(job, now)),
    job.most === undefined ? '' : dollars(job.most),
    job.brought?.files ?? '',
    job.commit?.changed?.files ?? '',
  ])
  const heads = [
    'project',
    'asked',
    'started',
    'ended',
    'step',
    'failed_at',
    'exit_code',
    'gpu',
    'gpus',
    'instance',
    'commit',
    'branch',
    'cost_usd',
    'most_usd',
    'files_home',
    'changed_files',
  ]
  return csv([heads, ...rows])
}
