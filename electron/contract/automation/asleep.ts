import type { GuardAction, GuardView } from './guard.ts'
import type { WatchdogRequest } from './watchdog.ts'

/** What a watchdog does in a guard's stead while Berth is away: one condition of its request, and the action. */
export interface WatchdogPart {
  action: GuardAction
  at?: number
  idle?: NonNullable<WatchdogRequest['idle']>
}

/**
 * What a watchdog would be asked for to do the same as a guard; undefined where it cannot: it counts no money, and has
 * no word for a load that may be low until a moment.
 */
export function watchdogPart({
  condition,
  action,
  snoozedUntil,
}: Pick<GuardView, 'condition' | 'action'> & { snoozedUntil?: number | undefined }):
  | WatchdogPart
  | undefined {
  switch (condition.kind) {
    case 'time':
      return { action, at: Math.ceil(Math.max(condition.at, snoozedUntil ?? 0)) }
    case 'duration':
      return { action, at: Math.ceil(Math.max(condition.from + condition.seconds, snoozedUntil ?? 0)) }
    case 'idle': {
      const { seconds, below } = condition
      const idle = { seconds: Math.round(seconds), below: Math.max(1, Math.round(below)) }
      return snoozedUntil === undefined ? { action, idle } : undefined
    }
    default:
      return undefined
  }
}

/** Whether a watchdog does that part. */
export function includesPart(request: WatchdogRequest, { action, at, idle }: WatchdogPart): boolean {
  if (request.action !== action) return false
  if (at !== undefined) return request.at === at
  return idle !== undefined && request.idle?.seconds === idle.seconds && request.idle.below === idle.below
}

/** The request with a part in the place of what it had of that kind. One watchdog does one thing, whatever the reason. */
export function withPart(request: WatchdogRequest | undefined, part: WatchdogPart): WatchdogRequest {
  return { ...request, ...part }
}

/** The request without a part; undefined where nothing is left of it. */
export function withoutPart(request: WatchdogRequest, part: WatchdogPart): WatchdogRequest | undefined {
  const { at, idle, ...rest } = request
  const left: WatchdogRequest = {
    ...rest,
    ...(at === undefined || part.at !== undefined ? {} : { at }),
    ...(idle === undefined || part.idle ? {} : { idle }),
  }
  return hasCondition(left) ? left : undefined
}

function hasCondition({ at, idle, lease }: WatchdogRequest): boolean {
  return at !== undefined || idle !== undefined || lease !== undefined
}
