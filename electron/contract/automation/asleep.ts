import type { LimitAction, LimitView } from './limit.ts'
import type { WatchdogRequest } from './watchdog.ts'

/** The part of a watchdog's request that replaces a limit while Berth is away: the action and one condition. */
export interface WatchdogPart {
  action: LimitAction
  at?: number
  idle?: NonNullable<WatchdogRequest['idle']>
}

/**
 * The watchdog's equivalent of a limit; undefined where there is none: a watchdog counts no money, and cannot snooze a
 * condition on the load.
 */
export function watchdogPart({
  when,
  setAt,
  action,
  snoozedUntil,
}: Pick<LimitView, 'when' | 'setAt' | 'action'> & { snoozedUntil?: number | undefined }):
  | WatchdogPart
  | undefined {
  switch (when.kind) {
    case 'time':
      return { action, at: Math.ceil(Math.max(when.at, snoozedUntil ?? 0)) }
    case 'duration':
      return { action, at: Math.ceil(Math.max(setAt + when.seconds, snoozedUntil ?? 0)) }
    case 'idle': {
      const { seconds, below } = when
      const idle = { seconds: Math.round(seconds), below: Math.max(1, Math.round(below)) }
      return snoozedUntil === undefined ? { action, idle } : undefined
    }
    default:
      return undefined
  }
}

/** Whether a watchdog's request covers a part. */
export function includesPart(request: WatchdogRequest, { action, at, idle }: WatchdogPart): boolean {
  if (request.action !== action) return false
  if (at !== undefined) return request.at === at
  return idle !== undefined && request.idle?.seconds === idle.seconds && request.idle.below === idle.below
}

/** The request with a part added, or replaced. A watchdog has one action for all its conditions. */
export function withPart(request: WatchdogRequest | undefined, part: WatchdogPart): WatchdogRequest {
  return { ...request, ...part }
}

/** The request without a part; undefined if no condition is left. */
export function withoutPart(request: WatchdogRequest, part: WatchdogPart): WatchdogRequest | undefined {
  const { at, idle, ...rest } = request
  const left: WatchdogRequest = {
    ...rest,
    ...(at === undefined || part.at !== undefined ? {} : { at }),
    ...(idle === undefined || part.idle ? {} : { idle }),
  }
  return hasCondition(left) ? left : undefined
}

export function hasCondition({ at, idle, lease }: WatchdogRequest): boolean {
  return at !== undefined || idle !== undefined || lease !== undefined
}
