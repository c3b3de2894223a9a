import type { Guard } from '../guard.ts'
import { warningOf } from './guard-actions.ts'

/**
 * The next moment at which something is to be done for the guard, after `now`: a warning, its moment, another try.
 * `dueAt` is when it acts as things are. Epoch seconds of the account's time.
 */
export function nextMoment(guard: Guard, dueAt: number | undefined, now: number): number | undefined {
  if (guard.ended || guard.passed) return undefined
  let next: number | undefined
  const consider = (moment: number | undefined) => {
    if (moment !== undefined && moment > now && (next === undefined || moment < next)) next = moment
  }
  if (dueAt !== undefined && guard.warnedAt === undefined) consider(dueAt - warningOf(guard))
  consider(dueAt)
  consider(guard.retryAt)
  return next
}
