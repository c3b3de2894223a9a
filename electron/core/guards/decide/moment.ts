import type { Facts } from '../facts/facts.ts'
import { kindOf } from '../kinds.ts'
import type { Guard } from '../model.ts'

type Moving = Pick<Guard, 'condition' | 'instance' | 'idleSince' | 'snoozedUntil' | 'setAt'>

/**
 * When the guard acts if nothing changes; past if it is due already, undefined if it would never. Not before it was
 * set, or its snooze is over.
 */
export function dueOf(guard: Moving, facts: Facts): number | undefined {
  const moment = kindOf(guard.condition).moment(guard.condition, guard, facts)
  return moment === undefined ? undefined : Math.max(moment, guard.setAt, guard.snoozedUntil ?? 0)
}

/** Until when the spending is known that the guard depends on, if the service does not report the credit now. */
export function creditStaleSince({ condition }: Pick<Guard, 'condition'>, facts: Facts): number | undefined {
  return kindOf(condition).creditStaleSince?.(facts)
}
