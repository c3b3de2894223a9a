import type { JobStep, JobView } from '#contract/project/project.ts'
import type { Micros } from '#contract/spending/money.ts'
import type { Shape } from '#renderer/words/state.ts'

/** The steps of a job, in their order. */
export const jobSteps = [
  { step: 'renting', name: 'Renting' },
  { step: 'sending', name: 'Sending' },
  { step: 'setup', name: 'Set-up' },
  { step: 'running', name: 'Running' },
  { step: 'bringing', name: 'Downloading' },
  { step: 'ending', name: 'Ending' },
] as const satisfies readonly { step: JobStep; name: string }[]

/** The state of a job as a word and an icon. */
export function jobWords({ step, failedAt, code }: JobView): { word: string; shape: Shape } {
  const name = (of: JobStep | undefined) => jobSteps.find(one => one.step === of)?.name
  switch (step) {
    case 'done':
      return code === undefined || code === 0
        ? { word: 'Done', shape: 'running' }
        : { word: `Ended with exit code ${code}`, shape: 'broken' }
    case 'failed':
      if (failedAt === 'running' && code) return { word: `Failed with exit code ${code}`, shape: 'needs-you' }
      return { word: `Failed: ${name(failedAt) ?? 'Renting'}`, shape: 'needs-you' }
    case 'cancelled':
      return { word: 'Cancelled', shape: 'stopped' }
    case 'running':
      return { word: 'Running', shape: 'running' }
    default:
      return { word: name(step) ?? step, shape: 'busy' }
  }
}

/** The cost of a job up to a moment of the account's time, in epoch seconds. */
export function jobCost({ cost }: Pick<JobView, 'cost'>, at: number): Micros {
  return cost.micros + Math.floor((Math.max(0, at - cost.at) * cost.perHour) / 3600)
}

/** A project's jobs, the newest first. */
export function jobsOf(jobs: Readonly<Record<string, JobView>>, project: string): JobView[] {
  return Object.values(jobs)
    .filter(job => job.project === project)
    .sort((a, b) => b.createdAt - a.createdAt)
}
