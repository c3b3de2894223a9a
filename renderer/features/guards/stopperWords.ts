import type { GuardView } from '#contract/automation/guard.ts'
import { guardReached } from '#contract/automation/guard-kinds.ts'

/** Why a guard stops what is about to run, and what it does, as a sentence. */
export function stopperWords({ condition, action, instance }: GuardView): string {
  const does = action === 'stop' ? 'stops' : instance === undefined ? 'stops and then destroys' : 'destroys'
  const what = condition.kind === 'credit' ? 'what loses least' : 'it'
  const reached = guardReached(condition)
  return `${reached.charAt(0).toUpperCase()}${reached.slice(1)}: its limit ${does} ${what} at the next poll.`
}
