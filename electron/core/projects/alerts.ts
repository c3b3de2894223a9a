import { money, rate } from '#contract/format/money.ts'
import { duration } from '#contract/format/time.ts'
import type { AccountId } from '#contract/ids.ts'
import type { InstanceView } from '#contract/instance/instance.ts'
import type { Alert } from '../notifications/alert.ts'
import type { Job } from './model.ts'
import { jobCostBy, keeping } from './view.ts'

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

export function jobDoneAlert(account: AccountId, job: Job, now: number): Alert {
  const { code = 0, brought } = job
  const files = brought?.files
    ? ` ${brought.files === 1 ? '1 file was' : `${brought.files} files were`} downloaded.`
    : ''
  return {
    ...about(account, job),
    title: titled(job, code === 0 ? 'is done' : `ended with exit code ${code}`),
    body: `It cost ${money(jobCostBy(job, now))}.${files}`,
    urgency: 'normal',
    ...(code === 0 && { good: true }),
  }
}

/** `view`: the job's machine, which is stopped now. */
export function jobFailedAlert(account: AccountId, job: Job, view: InstanceView | undefined): Alert {
  return {
    ...about(account, job),
    title: titled(job, 'failed'),
    body: [job.problem?.message, job.problem?.advice, diskWords(view)].filter(Boolean).join(' '),
    urgency: 'critical',
  }
}

/** The alert once the machine of a failed job was kept for the agreed time. */
export function keptAlert(
  account: AccountId,
  job: Job,
  { destroyed, view, now }: { destroyed: boolean; view: InstanceView | undefined; now: number },
): Alert {
  const cost = `It cost ${money(jobCostBy(job, now))}${destroyed ? '' : ' so far'}.`
  return {
    ...about(account, job),
    title: titled(job, destroyed ? 'failed, and its machine is destroyed' : 'still has a machine'),
    body: destroyed
      ? `Its machine was kept for ${duration(keeping(job).seconds)}, as you chose. ${cost}`
      : `${diskWords(view) || 'Its machine is kept.'} ${cost} Go on from there, or destroy it.`,
    urgency: destroyed ? 'normal' : 'critical',
  }
}

function diskWords(view: InstanceView | undefined): string {
  const { diskPricePerHour } = view ?? {}
  return diskPricePerHour === undefined ? '' : `While it's stopped, its disk costs ${rate(diskPricePerHour)}.`
}

/** A title of at most 50 characters. */
function titled({ name }: Job, words: string): string {
  const room = 49 - words.length
  return `${name.length > room ? `${name.slice(0, room - 1)}…` : name} ${words}`
}
