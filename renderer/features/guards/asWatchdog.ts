import type { GuardAction } from '../../../electron/contract/automation/guard.ts'
import type { GuardCondition } from '../../../electron/contract/automation/guard-kinds.ts'
import type { WatchdogWish } from '../../../electron/contract/automation/watchdog.ts'

/** What a watchdog would be asked for to do the same as a guard; undefined where it cannot, as of money. */
export function asWatchdog(
  condition: GuardCondition,
  action: GuardAction,
): (WatchdogWish & { action: GuardAction }) | undefined {
  switch (condition.kind) {
    case 'time':
      return { action, at: Math.ceil(condition.at) }
    case 'duration':
      return { action, at: Math.ceil(condition.from + condition.seconds) }
    case 'idle':
      return { action, idle: { seconds: condition.seconds, below: Math.max(1, Math.round(condition.below)) } }
    default:
      return undefined
  }
}
