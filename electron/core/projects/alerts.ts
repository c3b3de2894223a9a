import { money } from '../../contract/format/money.ts'
import type { AccountId } from '../../contract/ids.ts'
import type { Alert } from '../notifications/alert.ts'
import type { Job } from './model.ts'
import { costBy } from './view.ts'

/** One id per job, so that a later alert replaces the earlier one. */
export function jobAlertId(account: AccountId, { id }: Job): string {
  return `${account}/job/${id}`
}

function about(account: AccountId, job: Job): Omit<Alert, 'title' | 'body' | 'urgency'> {
  return {
    id: jobAlertId(account, job),
    kind: 'run',
    instance: job.instance,
    actions: [{ id: 'show', label: 'Show' }],
    place: { screen: 'projects', project: job.project },
  }
}

export function doneAlert(account: AccountId, job: Job, now: number): Alert {
  const { name, code = 0, brought } = job
  const files = brought?.files
    ? ` ${brought.files === 1 ? '1 file is' : `${brought.files} files are`} home.`
    : ''
  return {
    ...about(account, job),
    title: code === 0 ? `${name} is done` : `${name} ended with exit code ${code}`,
    body: `It cost ${money(costBy(job, now))}.${files}`,
    urgency: 'normal',
  }
}

export function failedAlert(account: AccountId, job: Job): Alert {
  return {
    ...about(account, job),
    title: `${job.name} cannot go on`,
    body: [job.problem?.message, job.problem?.advice].filter(Boolean).join(' '),
    urgency: 'critical',
  }
}
