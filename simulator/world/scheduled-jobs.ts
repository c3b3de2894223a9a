import { refusal } from '../errors.ts'
import { Collection } from './collection.ts'
import { Draw } from './draw.ts'

/** A call that the service makes for the account again and again. Times in epoch seconds, hours in UTC. */
export interface JobContent {
  instance_id: number
  api_endpoint: string
  request_method: string
  request_body: Record<string, unknown>
  start_time: number
  end_time: number
  frequency: string
  /** 0 is Sunday; null unless weekly. */
  day_of_the_week: number | null
  /** Null if hourly. */
  hour_of_the_day: number | null
}

export type ScheduledJob = JobContent & { readonly id: number }

/** The account's scheduled jobs. They are kept and never carried out. */
export class ScheduledJobs extends Collection<ScheduledJob> {
  constructor(seed: number) {
    super('scheduled job', new Draw(seed, 'scheduled job ids').integer(10_000, 90_000))
  }

  /** Throws 422 `job_exists` for the same call on the same instance. */
  create(content: JobContent): ScheduledJob {
    const same = this.list().find(
      job =>
        job.instance_id === content.instance_id &&
        job.api_endpoint === content.api_endpoint &&
        job.request_method === content.request_method,
    )
    if (!same) return this.add(id => ({ id, ...content }))
    throw refusal(422, 'job_exists', 'A matching scheduled job exists.', { scheduled_job_id: same.id })
  }
}
