import {
  hasCondition,
  includesPart,
  watchdogPart,
  withoutPart,
  withPart,
} from '#contract/automation/asleep.ts'
import type { WatchdogEnding, WatchdogReason } from '#contract/automation/watchdog.ts'
import type { InstanceView } from '#contract/instance/instance.ts'
import { hasTrait } from '#contract/instance/state-traits.ts'
import type { WatchdogReading } from '#ssh/watchdog/watchdog.ts'
import type { Limit } from '../model.ts'
import type { StoredWatchdog } from './model.ts'

/** Seconds: a watchdog checks at least every ten, and its clock and the account's may differ by a few more. */
const slack = 15
/** Polls that may still show it running after Berth requested its end; after that the request counts as failed. */
export const pollsUntilEnd = 3

/**
 * A watchdog after a poll, and what it has probably done: its instance no longer runs, it was due, and Berth did not
 * end it. This is judged once, at the first poll without the running instance. `instance` is undefined when it is gone;
 * `at` in epoch seconds of the account's time.
 */
export function watchdogAfterPoll(
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

/** Why the watchdog acted, if it can have been the watchdog: its first condition that was due by then. */
function reasonFor(
  { request, seen, renewedAt }: StoredWatchdog,
  action: WatchdogEnding['action'],
  at: number,
): WatchdogReason | undefined {
  if (seen?.why === 'run') return 'run'
  if (request.action !== action) return undefined
  if (seen?.why) return seen.why
  // The clock may have been set back since.
  const seenAt = Math.min(seen?.at ?? at, at)
  const moments: [WatchdogReason, number | undefined][] = [
    // A moment that had passed by the last visit without effect was dealt with before.
    ['time', request.at !== undefined && (!seen || seenAt <= request.at + slack) ? request.at : undefined],
    [
      'idle',
      request.idle && seen?.idleFor !== undefined ? seen.at + request.idle.seconds - seen.idleFor : undefined,
    ],
    ['lease', request.lease === undefined || renewedAt === undefined ? undefined : renewedAt + request.lease],
    // An instance that was busy at the last visit may have been idle ever since.
    ['idle', request.idle && seen ? seenAt + request.idle.seconds : undefined],
  ]
  const due = moments.flatMap(([why, moment]) =>
    moment !== undefined && moment <= at + slack ? [{ why, moment }] : [],
  )
  const [first] = due.sort((a, b) => a.moment - b.moment)
  return first?.why
}

/** Whether a watchdog's report is new. */
export function isNews(did: WatchdogEnding, told: WatchdogEnding | undefined): boolean {
  return told === undefined || did.at > told.at + slack
}

/** A watchdog after a visit, `at` in epoch seconds of the account's time; `renewed`: its lease was. */
export function afterVisit(
  watchdog: StoredWatchdog,
  { load, blind, idleFor, leasedFor, why, tries, key, hooked, did, request }: WatchdogReading,
  { at, renewed, startsIt }: { at: number; renewed: boolean; startsIt: boolean },
): StoredWatchdog {
  return {
    ...watchdog,
    ...(watchdog.foreign ? { request } : {}),
    step: 'watching',
    seen: {
      at,
      load,
      ...(blind ? { blind } : {}),
      idleFor,
      leasedFor,
      why,
      tries,
      key,
      comesBack: hooked || startsIt,
    },
    ...(renewed ? { renewedAt: at } : {}),
    ...(did ? { did } : {}),
  }
}

/** Whether a replacement of its instance gets the same: not one that waits for runs alone, which stay behind. */
export function isCarried({ step, foreign, request }: StoredWatchdog): boolean {
  return (step === 'putting' || step === 'watching') && !foreign && hasCondition(request)
}

/**
 * A watchdog after a change of a limit, whose condition it shares. Undefined where it shares none. `runsNeed`: whether
 * a run depends on it.
 */
export function followed(
  watchdog: StoredWatchdog,
  before: Limit,
  after: Limit | undefined,
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
