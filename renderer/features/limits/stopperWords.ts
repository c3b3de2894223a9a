import type { LimitView } from '#contract/automation/limit.ts'
import { limitReached } from '#contract/automation/limit-kinds.ts'

/** Why a limit stops what is about to run, and what it does, as a sentence. */
export function stopperWords({ condition, action, instance }: LimitView): string {
  const does = action === 'stop' ? 'stops' : instance === undefined ? 'stops and then destroys' : 'destroys'
  const what = condition.kind === 'credit' ? 'what loses least' : 'it'
  const reached = limitReached(condition)
  return `${reached.charAt(0).toUpperCase()}${reached.slice(1)}: its limit ${does} ${what} at the next poll.`
}
