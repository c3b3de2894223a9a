import type { Problem } from '#shared/problem.ts'
import { failsAtOnce, retriedCodes } from '#shared/project/retry.ts'
import { storeOf } from '#shared/project/store.ts'
import type { RunStatus } from '#ssh/runs/runs.ts'
import { noOfferInTime } from './messages.ts'
import type { ProjectRun, Run } from './model.ts'

/** The move of a run whose file says that it waits for an offer, as none was within its price; undefined for others. */
export function seekingMove(
  { project: { spec }, sweep, seeking }: ProjectRun,
  now: number,
  code: string | undefined,
): { do: 'seek' | 'wait' } | { do: 'fail'; problem: Problem } | undefined {
  if (spec.wait === undefined || sweep || code !== 'no_offers') return undefined
  if (seeking && now >= seeking.since + spec.wait) return { do: 'fail', problem: noOfferInTime(spec.wait) }
  return { do: now >= (seeking?.nextAt ?? 0) ? 'seek' : 'wait' }
}

/** When a run begins, or the market is searched again for one that waits for an offer, or it gives up; undefined for others. */
export function seekingDue({ step, seeking, startsAt, project }: Run): number | undefined {
  if (step === 'waiting' && startsAt !== undefined) return startsAt
  if (step !== 'waiting' || !seeking) return undefined
  return Math.min(seeking.nextAt, seeking.since + (project?.spec.wait ?? 0))
}

/** The attempts of its command that have failed by now, on this machine and those before it. `now`: account time. */
export function retriedRun({ retried }: Run, attempts: RunStatus['attempts'], now: number): Run['retried'] {
  if (!attempts) return retried
  const { failed, code, pause } = attempts
  const before = retried?.before ?? 0
  const isSame = retried?.times === before + failed
  const at = isSame ? retried.at : now
  const nextAt = pause === 0 ? undefined : ((isSame ? retried.nextAt : undefined) ?? Math.ceil(now + pause))
  return { times: before + failed, before, code, at, nextAt }
}

/** The run whose command has failed, where it's tried again on another machine; undefined where not. `at`: account time. */
export function retriedElsewhere(
  { project, retried, begunAt, node, endedByUser }: Run,
  code: number,
  at: number,
): Pick<Run, 'retried' | 'movingSince'> | undefined {
  const retry = project?.spec.retry
  if (!retry?.elsewhere || node || endedByUser || code === 0) return undefined
  const { times = 0, quick: before = 0 } = retried ?? {}
  const quick = at - (begunAt ?? at) < failsAtOnce.within ? before + 1 : 0
  const isMeant = retriedCodes(retry).some(one => one === 'error' || one === code)
  if (!isMeant || times >= retry.times || quick >= failsAtOnce.times) return undefined
  return { retried: { times: times + 1, before: times + 1, code, at, quick }, movingSince: at }
}

/** When the machine's last complete snapshot of the results began, and why it makes none. `now`: account time. */
export function storedRun(
  { wholeAt, project }: Run,
  stored: RunStatus['stored'],
  now: number,
): { wholeAt: number | undefined; failure: Problem | undefined } {
  const { secondsAgo, failure } = stored ?? {}
  const at = secondsAgo === undefined ? undefined : now - secondsAgo
  const to = project && storeOf(project.spec)?.to
  return {
    wholeAt: at === undefined ? wholeAt : Math.max(wholeAt ?? at, at),
    failure:
      failure === undefined
        ? undefined
        : { code: 'not_stored', message: `The machine can’t store the results in ${to}: ${failure}` },
  }
}
