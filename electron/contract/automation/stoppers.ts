import type { InstanceView } from '../instance/instance.ts'
import { calmRate, creditBy } from '../reading.ts'
import type { Micros } from '../spending/money.ts'
import type { AccountView } from '../state.ts'
import { type GuardView, hasEnded } from './guard.ts'

/** What is about to run: one that is started, or one to be rented. */
export interface Starting {
  instance?: number
  /** By how much it adds to what is spent, micro-dollars per hour. */
  more: Micros
}

/** What a start would add to what is spent: its price and the traffic expected of it, less what its disk costs already. */
export function starting({ id, pricePerHour, costPerHour, traffic }: InstanceView): Starting {
  const more = Math.max(0, (pricePerHour ?? costPerHour) - costPerHour)
  return { instance: id, more: more + (traffic?.expectedPerHour ?? 0) }
}

/** The guards that stop at the next poll what is about to run. `now` in epoch seconds of the account's time. */
export function stoppersOf(account: AccountView, { instance, more }: Starting, now: number): GuardView[] {
  const credit = creditBy(account, now)
  return Object.values(account.guards).filter(guard => {
    if (hasEnded(guard) || (guard.snoozedUntil ?? 0) > now) return false
    if (guard.instance !== undefined && guard.instance !== instance) return false
    if (guard.condition.kind === 'credit')
      return credit !== undefined && credit < (calmRate(account.instances) + more) * guard.condition.hours
    return guard.dueAt !== undefined && guard.dueAt <= now
  })
}
