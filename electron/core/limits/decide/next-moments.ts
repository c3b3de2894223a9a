import type { Limit } from '../model.ts'
import { warningOf } from './limit-actions.ts'

/**
 * The next moment at which the limit has to warn, act or retry, after `seen`, up to which all is decided; `now` if it
 * has to warn already. `dueAt` is when it acts at present. Epoch seconds of the account's time.
 */
export function nextMoment(
  limit: Limit,
  dueAt: number | undefined,
  now: number,
  seen: number,
): number | undefined {
  if (limit.ended || limit.passed) return undefined
  const next = sooner(ahead(dueAt, seen), ahead(limit.retryAt, seen))
  const warning = warningOf(limit)
  if (dueAt === undefined || dueAt <= now || warning === 0 || limit.warnedAt !== undefined) return next
  return sooner(Math.max(dueAt - warning, now), next)
}

function ahead(moment: number | undefined, seen: number): number | undefined {
  return moment !== undefined && moment > seen ? moment : undefined
}

function sooner(one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return Math.min(one, other)
}
