import {
  includesPart,
  type WatchdogPart,
  watchdogPart,
  withoutPart,
  withPart,
} from '../../../electron/contract/automation/asleep.ts'
import type { GuardView } from '../../../electron/contract/automation/guard.ts'
import { isGoing } from '../../../electron/contract/automation/run.ts'
import type { WatchdogRequest, WatchdogView } from '../../../electron/contract/automation/watchdog.ts'
import { moment } from '../../../electron/contract/format/time.ts'
import type { AccountView } from '../../../electron/contract/state.ts'

/** The watchdog that is on an instance, or on its way there. */
export function watchdogOn(account: AccountView | undefined, instance: number): WatchdogView | undefined {
  const watchdog = account?.watchdogs[instance]
  return watchdog && watchdog.step !== 'removing' && watchdog.step !== 'lost' ? watchdog : undefined
}

/** Whether a watchdog does what the guard does. */
export function isWatchedAsleep(account: AccountView | undefined, guard: GuardView): boolean {
  const part = watchdogPart(guard)
  const wish = guard.instance === undefined ? undefined : watchdogOn(account, guard.instance)?.wish
  return part !== undefined && wish !== undefined && includesPart(wish, part)
}

/** What to ask a watchdog for so that it does that part too; or why it cannot. `now`: the account's time. */
export function wishWith(
  watchdog: WatchdogView | undefined,
  part: WatchdogPart,
  now: number,
): { wish: WatchdogRequest; unusable?: undefined } | { wish?: undefined; unusable: string } {
  const wish = watchdog?.wish
  const others = wish && withoutPart(wish, part)
  if (others && others.action !== part.action)
    return {
      unusable: `The watchdog there ${others.action === 'stop' ? 'stops' : 'destroys'}: one does one thing only.`,
    }
  if (part.at !== undefined && wish?.at !== undefined && wish.at < part.at && wish.at > now)
    return { unusable: `The watchdog there has one time, and ${moment(wish.at, now)} comes first.` }
  return { wish: withPart(others, part) }
}

/** What is left of a watchdog without a part; undefined where nothing is, and no run counts on it. */
export function wishLeft(
  account: AccountView,
  { wish, instance }: WatchdogView,
  part: WatchdogPart,
): WatchdogRequest | undefined {
  const counted = Object.values(account.runs).some(
    run => run.instance === instance && run.watchdog && isGoing(run),
  )
  return withoutPart(wish, part) ?? (counted ? { action: wish.action } : undefined)
}
