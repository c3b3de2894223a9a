import type { Facts } from '../facts/facts.ts'
import { kindOf } from '../kinds.ts'
import type { Guard } from '../model.ts'

type Moving = Pick<Guard, 'condition' | 'instance' | 'idleSince' | 'snoozedUntil' | 'setAt'>

/**
 * When the guard acts if all goes on as it was seen: past where that has come to be already, undefined where nothing
 * leads there. Never before it was set, or its snooze is over.
 */
export function dueOf(guard: Moving, facts: Facts): number | undefined {
  const moment = kindOf(guard.condition).moment(guard.condition, guard, facts)
  return moment === undefined ? undefined : Math.max(moment, guard.setAt, guard.snoozedUntil ?? 0)
}

/** Until when the money that the guard goes by was counted, where the service does not report it now. */
export function creditStaleSince({ condition }: Pick<Guard, 'condition'>, facts: Facts): number | undefined {
  return kindOf(condition).creditStaleSince?.(facts)
}
