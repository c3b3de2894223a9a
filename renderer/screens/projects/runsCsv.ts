import { runCost } from '#renderer/features/runs/runWords.ts'
import type { ProjectRunView } from '#shared/automation/run.ts'
import { csv, dollars } from '#shared/format/csv.ts'

/** One row for each run. `now` in epoch seconds of the account's time; times are ISO 8601. */
export function runsCsv(runs: readonly ProjectRunView[], now: number): string {
  const time = (at: number | undefined) => (at === undefined ? '' : new Date(at * 1000).toISOString())
  const rows = runs.map(run => [
    run.name,
    time(run.createdAt),
    time(run.startedAt),
    time(run.endedAt),
    run.step,
    run.failedAt ?? '',
    run.code ?? '',
    run.gpu?.name ?? '',
    run.gpu?.count ?? '',
    run.instance ?? '',
    run.commit?.id ?? '',
    run.commit?.branch ?? '',
    dollars(runCost(run, now)),
    run.most === undefined ? '' : dollars(run.most),
    run.downloadResult?.files ?? '',
    run.commit?.changed?.files ?? '',
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
