import type { GuardView } from '../../../electron/contract/automation/guard.ts'
import { money } from '../../../electron/contract/format/money.ts'
import { duration } from '../../../electron/contract/format/time.ts'

/** Why a guard stops what is about to run, and what it does, as a sentence. */
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
