import type { Micros } from '../../../contract/spending/money.ts'
import type { AccountView } from '../../../contract/state.ts'
import type { Guard } from '../guard.ts'
import { calmRate } from './least-loss.ts'

/** Percent, and when that was heard. */
export interface HeardLoad {
  load: number
  at: number
}
export type Loads = ReadonlyMap<number, HeardLoad>

/** What guards decide on: an account as it was seen at `at`. Times in epoch seconds of the account's time. */
export interface Facts {
  at: number
  account: Pick<AccountView, 'instances' | 'credit' | 'spendPerHour'>
  /** What this day and this month of the machine's calendar have cost by then, and when they end. */
  spentToday: Micros
  spentThisMonth: Micros
  dayEnds: number
  monthEnds: number
  /** By instance, where the service does not tell the GPU load and it was asked inside. */
  loads: Loads
}

type Moving = Pick<Guard, 'condition' | 'instance' | 'idleSince' | 'snoozedUntil'>

/**
 * When the guard acts if all goes on as it was seen: past where that has come to be already, undefined where nothing
 * leads there. Never before its snooze is over.
 */
export function dueOf(guard: Moving, facts: Facts): number | undefined {
  const moment = momentOf(guard, facts)
  if (moment === undefined || guard.snoozedUntil === undefined) return moment
  return Math.max(moment, guard.snoozedUntil)
}

function momentOf({ condition, instance, idleSince }: Moving, facts: Facts): number | undefined {
  switch (condition.kind) {
    case 'time':
      return condition.at
    case 'duration':
      return condition.from + condition.seconds
    case 'idle':
      return idleSince === undefined ? undefined : idleSince + condition.seconds
    case 'cost': {
      const spent = facts.account.instances[instance ?? 0]?.spent
      return spent && reached(spent.micros, condition.limit, spent.perHour, spent.at)
    }
    case 'budget': {
      const [spent, ends] =
        condition.per === 'day' ? [facts.spentToday, facts.dayEnds] : [facts.spentThisMonth, facts.monthEnds]
      const at = reached(spent, condition.limit, facts.account.spendPerHour, facts.at)
      return at === undefined || at >= ends ? undefined : at
    }
    case 'credit': {
      const { credit } = facts.account
      const perHour = calmRate(facts.account.instances)
      if (credit === undefined || perHour <= 0) return undefined
      return facts.at + (credit / perHour - condition.hours) * 3600
    }
  }
}

/** When a sum that grows from `spent` at `at` comes to the limit; where it stands still beyond it, `at`. */
function reached(spent: Micros, limit: Micros, perHour: Micros, at: number): number | undefined {
  if (perHour > 0) return at + ((limit - spent) * 3600) / perHour
  return spent >= limit ? at : undefined
}
