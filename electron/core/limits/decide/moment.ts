import type { Facts } from '../facts/facts.ts'
import { kindOf } from '../kinds.ts'
import type { Limit } from '../model.ts'

type Moving = Pick<Limit, 'condition' | 'instance' | 'idleSince' | 'snoozedUntil' | 'setAt'>

/**
 * When the limit acts if nothing changes; past if it is due already, undefined if it would never. Not before it was
 * set, or its snooze is over.
 */
export function dueOf(limit: Moving, facts: Facts): number | undefined {
  const moment = kindOf(limit.condition).moment(limit.condition, limit, facts)
  return moment === undefined ? undefined : Math.max(moment, limit.setAt, limit.snoozedUntil ?? 0)
}

/** Until when the spending is known that the limit depends on, if the service does not report the credit now. */
export function creditStaleSince({ condition }: Pick<Limit, 'condition'>, facts: Facts): number | undefined {
  return kindOf(condition).creditStaleSince?.(facts)
}
