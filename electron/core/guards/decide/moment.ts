import { expectedTraffic } from '../../../contract/reading.ts'
import type { Micros } from '../../../contract/spending/money.ts'
import type { AccountView } from '../../../contract/state.ts'
import type { Guard } from '../model.ts'
import type { Periods } from './calendar.ts'
import { calmRate } from './choose-targets.ts'
import type { Loads } from './idle.ts'

/** What guards decide on: an account as it was seen at `at`. Times in epoch seconds of the account's time. */
export interface Facts extends Periods {
  at: number
  account: Pick<AccountView, 'instances' | 'credit' | 'creditAt' | 'spendPerHour'>
  /** What this day and this month of the machine's calendar have cost, and up to when that was counted. */
  spentToday: Micros
  spentThisMonth: Micros
  countedAt: number
  /** By instance, where the service does not tell the GPU load and it was asked inside. */
  loads: Loads
}

type Moving = Pick<Guard, 'condition' | 'instance' | 'idleSince' | 'snoozedUntil' | 'setAt'>

/**
 * When the guard acts if all goes on as it was seen: past where that has come to be already, undefined where nothing
 * leads there. Never before it was set, or its snooze is over.
 */
export function dueOf(guard: Moving, facts: Facts): number | undefined {
  const moment = momentOf(guard, facts)
  return moment === undefined ? undefined : Math.max(moment, guard.setAt, guard.snoozedUntil ?? 0)
}

/**
 * Up to when the money was counted that the guard goes by, where the service tells the instances but not the credit:
 * its moment is where that leads by the prices, and nothing is done on it. Undefined where it is told.
 */
export function untoldSince(
  { condition: { kind } }: Pick<Guard, 'condition'>,
  { at, account: { creditAt }, countedAt }: Facts,
): number | undefined {
  if (kind === 'credit') return creditAt
  return kind === 'budget' && creditAt !== undefined && countedAt < at ? countedAt : undefined
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
      const target = facts.account.instances[instance ?? 0]
      if (!target) return undefined
      const { micros, perHour, at } = target.spent
      return reached(micros, condition.limit, perHour + expectedTraffic(target), at)
    }
    case 'budget': {
      const [spent, began, ends] =
        condition.per === 'day'
          ? [facts.spentToday, facts.dayBegan, facts.dayEnds]
          : [facts.spentThisMonth, facts.monthBegan, facts.monthEnds]
      const from = Math.max(facts.countedAt, began)
      const at = reached(spent, condition.limit, facts.account.spendPerHour + expectedOfAll(facts), from)
      return at === undefined || at >= ends ? undefined : at
    }
    case 'credit': {
      const { credit, creditAt = facts.at } = facts.account
      const perHour = calmRate(facts.account.instances)
      if (credit === undefined || perHour <= 0) return undefined
      return creditAt + (credit / perHour - condition.hours) * 3600
    }
  }
}

function expectedOfAll({ account: { instances } }: Facts): Micros {
  return Object.values(instances).reduce((sum, instance) => sum + expectedTraffic(instance), 0)
}

/** When a sum that grows from `spent` at `at` comes to the limit; where it stands still beyond it, `at`. */
function reached(spent: Micros, limit: Micros, perHour: Micros, at: number): number | undefined {
  if (perHour > 0) return at + ((limit - spent) * 3600) / perHour
  return spent >= limit ? at : undefined
}
