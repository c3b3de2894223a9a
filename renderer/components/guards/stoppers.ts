import { type GuardView, hasEnded } from '../../../electron/contract/automation/guard.ts'
import type { Micros } from '../../../electron/contract/spending/money.ts'
import type { AccountView } from '../../../electron/contract/state.ts'
import { money } from '../../words/money.ts'
import { duration } from '../../words/time.ts'

/** What is about to run: one that is started, or one to be rented. */
export interface Starting {
  instance?: number
  /** By how much it adds to what is spent, micro-dollars per hour. */
  more: Micros
}

/** The guards that stop at the next look what is about to run. `now` in epoch seconds of the account's time. */
export function stoppersOf(account: AccountView, { instance, more }: Starting, now: number): GuardView[] {
  return Object.values(account.guards).filter(guard => {
    if (hasEnded(guard) || (guard.snoozedUntil ?? 0) > now) return false
    if (guard.instance !== undefined && guard.instance !== instance) return false
    if (guard.condition.kind === 'credit')
      return (
        account.credit !== undefined && account.credit < (account.spendPerHour + more) * guard.condition.hours
      )
    return guard.dueAt !== undefined && guard.dueAt <= now
  })
}

/** Why such a guard stops it, and what it does, as a sentence. */
export function stopperWords({ condition, action, instance }: GuardView): string {
  const does = action === 'stop' ? 'stops' : instance === undefined ? 'stops and then destroys' : 'destroys'
  switch (condition.kind) {
    case 'budget':
      return `${condition.per === 'day' ? 'Today’s' : 'This month’s'} budget of ${money(condition.limit)} is reached: its guard ${does} it at the next look.`
    case 'credit':
      return `The credit would then last less than ${duration(condition.hours * 3600)}: its guard ${does} what loses least at the next look.`
    case 'cost':
      return `It has cost its limit of ${money(condition.limit)}: its guard ${does} it at the next look.`
    default:
      return `The moment of its guard has come: it ${does} it at the next look.`
  }
}
