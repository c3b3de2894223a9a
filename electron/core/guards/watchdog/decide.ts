import { includesPart, watchdogPart, withoutPart, withPart } from '../../../contract/automation/asleep.ts'
import type { WatchdogEnding, WatchdogReason } from '../../../contract/automation/watchdog.ts'
import type { InstanceView } from '../../../contract/instance/instance.ts'
import { hasTrait } from '../../../contract/instance/state-traits.ts'
import type { WatchdogReading } from '../../../ssh/watchdog/watchdog.ts'
import type { Guard } from '../model.ts'
import type { StoredWatchdog } from './model.ts'

/** Seconds: a watchdog checks at most every ten of them, and its moments and Berth's differ by a few more. */
const slack = 15
/** Polls that may still show it running after Berth asked for its end; after them the request counts as failed. */
export const pollsUntilEnd = 3

/**
 * A watchdog after a fresh poll, and what it seems to have done: its instance does not run any more, it was due, and
 * not Berth itself has done it. That is judged at the first poll that shows it, and once until it runs again. `instance`
 * is undefined when it is gone; `at` in epoch seconds of the account's time.
 */
export function afterPoll(
  watchdog: StoredWatchdog,
  instance: InstanceView | undefined,
  at: number,
): { watchdog: StoredWatchdog; did?: WatchdogEnding } {
  if (instance?.state === 'running') return { watchdog: runsOn(watchdog) }
  const halted = !instance || hasTrait(instance.state, 'halted')
  if (watchdog.told || watchdog.step !== 'watching' || !halted) return { watchdog }
  const action = instance ? 'stop' : 'destroy'
  const why = watchdog.endsHere === undefined ? reasonFor(watchdog, action, at) : undefined
  if (!why) return { watchdog: { ...watchdog, told: true } }
  const did = { at, action, why } as const
  return { watchdog: { ...watchdog, told: true, did }, did }
}

function runsOn(watchdog: StoredWatchdog): StoredWatchdog {
  const { endsHere = 0, told, ...rest } = watchdog
  if (endsHere === 0 && !told) return watchdog
  return endsHere > 1 ? { ...rest, endsHere: endsHere - 1 } : rest
}

/** Why the watchdog did it, if it can have been the watchdog: its first condition that was due by then. */
function reasonFor(
  { request, seen, renewedAt }: StoredWatchdog,
  action: WatchdogEnding['action'],
  at: number,
): WatchdogReason | undefined {
  if (seen?.why === 'run') return 'run'
  if (request.action !== action) return undefined
  if (seen?.why) return seen.why
  // A clock may have been set back since.
  const seenAt = Math.min(seen?.at ?? at, at)
  const moments: [WatchdogReason, number | undefined][] = [
    // A moment that had passed by the last visit without effect had been dealt with before.
    ['time', request.at !== undefined && (!seen || seenAt <= request.at + slack) ? request.at : undefined],
    [
      'idle',
      request.idle && seen?.idleFor !== undefined ? seen.at + request.idle.seconds - seen.idleFor : undefined,
    ],
    ['lease', request.lease === undefined || renewedAt === undefined ? undefined : renewedAt + request.lease],
    // Busy at the last visit, it may have been idle for that long since.
    ['idle', request.idle && seen ? seenAt + request.idle.seconds : undefined],
  ]
  const due = moments.flatMap(([why, moment]) =>
    moment !== undefined && moment <= at + slack ? [{ why, moment }] : [],
  )
  const [first] = due.sort((a, b) => a.moment - b.moment)
  return first?.why
}

/** Whether what a watchdog wrote down has not been reported yet. */
export function isNews(did: WatchdogEnding, told: WatchdogEnding | undefined): boolean {
  return told === undefined || did.at > told.at + slack
}

/** A watchdog after it was read, `at` in epoch seconds of the account's time; `renewed`: its lease was. */
export function afterVisit(
  watchdog: StoredWatchdog,
  { load, idleFor, leasedFor, why, tries, key, hooked, did, request }: WatchdogReading,
  { at, renewed, startsIt }: { at: number; renewed: boolean; startsIt: boolean },
): StoredWatchdog {
  return {
    ...watchdog,
    ...(watchdog.foreign ? { request } : {}),
    step: 'watching',
    seen: { at, load, idleFor, leasedFor, why, tries, key, comesBack: hooked || startsIt },
    ...(renewed ? { renewedAt: at } : {}),
    ...(did ? { did } : {}),
  }
}

/**
 * A watchdog after a guard has changed: the part of it that does the same goes with that. Undefined where it has none.
 * `runsNeed`: whether a run counts on it.
 */
export function followed(
  watchdog: StoredWatchdog,
  before: Guard,
  after: Guard | undefined,
  runsNeed: boolean,
): StoredWatchdog | undefined {
  const part = watchdogPart(before)
  if (!part || watchdog.foreign || watchdog.step === 'removing' || !includesPart(watchdog.request, part))
    return undefined
  const next = after && watchdogPart(after)
  // A watchdog that waits only for runs has no condition.
  const rest =
    withoutPart(watchdog.request, part) ?? (runsNeed ? { action: watchdog.request.action } : undefined)
  const request = next ? withPart(rest, next) : rest
  return request ? { ...watchdog, request, step: 'putting' } : { ...watchdog, step: 'removing' }
}
