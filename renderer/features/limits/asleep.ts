import {
  includesPart,
  type WatchdogPart,
  watchdogPart,
  withoutPart,
  withPart,
} from '#contract/automation/asleep.ts'
import type { LimitView } from '#contract/automation/limit.ts'
import { isGoing } from '#contract/automation/run.ts'
import type { WatchdogRequest, WatchdogView } from '#contract/automation/watchdog.ts'
import { moment } from '#contract/format/time.ts'
import type { AccountView } from '#contract/state.ts'

/** The watchdog that is on an instance, or on its way there. */
export function watchdogOn(account: AccountView | undefined, instance: number): WatchdogView | undefined {
  const watchdog = account?.watchdogs[instance]
  return watchdog && watchdog.step !== 'removing' && watchdog.step !== 'lost' ? watchdog : undefined
}

/** Whether a watchdog does what the limit does. */
export function isWatchedAsleep(account: AccountView | undefined, limit: LimitView): boolean {
  const part = watchdogPart(limit)
  const request = limit.instance === undefined ? undefined : watchdogOn(account, limit.instance)?.request
  return part !== undefined && request !== undefined && includesPart(request, part)
}

/** What to ask a watchdog for so that it does that part too; or why it cannot. `now`: the account's time. */
export function requestWith(
  watchdog: WatchdogView | undefined,
  part: WatchdogPart,
  now: number,
): { request: WatchdogRequest; unusable?: undefined } | { request?: undefined; unusable: string } {
  const request = watchdog?.request
  const others = request && withoutPart(request, part)
  if (others && others.action !== part.action)
    return {
      unusable: `The watchdog there ${others.action === 'stop' ? 'stops' : 'destroys'}: one does one thing only.`,
    }
  if (part.at !== undefined && request?.at !== undefined && request.at < part.at && request.at > now)
    return { unusable: `The watchdog there has one time, and ${moment(request.at, now)} comes first.` }
  return { request: withPart(others, part) }
}

/** What is left of a watchdog without a part; undefined where nothing is, and no run counts on it. */
export function requestLeft(
  account: AccountView,
  { request, instance }: WatchdogView,
  part: WatchdogPart,
): WatchdogRequest | undefined {
  const counted = Object.values(account.runs).some(
    run => run.instance === instance && run.watchdog && isGoing(run),
  )
  return withoutPart(request, part) ?? (counted ? { action: request.action } : undefined)
}
