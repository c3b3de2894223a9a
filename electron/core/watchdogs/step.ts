import { fixedMoment, type LimitAction } from '#shared/automation/limit.ts'
import type { WatchdogEnding, WatchdogReason, WatchdogRequest } from '#shared/automation/watchdog.ts'
import { spentBy } from '#shared/derived.ts'
import { money } from '#shared/format/money.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import { hasTrait } from '#shared/instance/state-traits.ts'
import type { WatchdogReading } from '#ssh/watchdog/watchdog.ts'
import { type StoredLimit, withEvent, withoutWarning, withTargets } from '../limits/model.ts'
import type { StoredWatchdog } from './record.ts'

/** Seconds: a watchdog checks at least every ten, and its clock and the account's may differ by a few more. */
const slack = 15
/** Seconds in which an instance ends that a watchdog has ended. */
const endsWithin = 60

/**
 * A watchdog after a poll, and its action: its instance no longer runs, and it said so, or with `seems` it was due and Berth
 * did not end it. This is judged once, at the first poll without the running instance. `instance` is undefined when it is
 * gone; `at` in epoch seconds of the account's time.
 */
export function watchdogAfterPoll(
  watchdog: StoredWatchdog,
  instance: InstanceView | undefined,
  at: number,
): { watchdog: StoredWatchdog; did?: WatchdogEnding; seems?: boolean } {
  if (instance?.state === 'running') return { watchdog: runsOn(watchdog) }
  // It starts again, and its watchdog with it: what ended it before says nothing of its next end.
  if (instance && watchdog.isEndDecided && hasTrait(instance.state, 'booting')) {
    const { endsHere: _, isEndDecided: __, ...rest } = watchdog
    return { watchdog: rest }
  }
  const halted = !instance || hasTrait(instance.state, 'halted')
  // One that can't be told of a change goes on by what it was told before.
  const acts = watchdog.step === 'watching' || watchdog.there !== undefined
  if (watchdog.isEndDecided || !acts || !halted) return { watchdog }
  const action = instance ? 'stop' : 'destroy'
  const isOwn = watchdog.endsHere !== undefined
  const said = isOwn ? undefined : saidEnd(watchdog, action)
  const why = isOwn ? undefined : (said?.why ?? reasonFor(watchdog, action, at))
  if (!why) return { watchdog: { ...watchdog, isEndDecided: true } }
  const did = said ?? { at, action, why }
  return { watchdog: { ...watchdog, isEndDecided: true, lastAction: did }, did, seems: !said }
}

/** The end that it had just told of at the last visit: one of which it tells much later is an earlier one, or came to nothing. */
function saidEnd(
  { report, lastAction }: StoredWatchdog,
  action: WatchdogEnding['action'],
): WatchdogEnding | undefined {
  const did = report?.did
  if (did?.action !== action || (report?.at ?? 0) > did.at + endsWithin) return undefined
  return lastAction === undefined || did.at > lastAction.at + slack ? did : undefined
}

/** Whether a watchdog may have destroyed an instance that is gone. */
export function mayHaveDestroyed(watchdog: StoredWatchdog | undefined, at: number): boolean {
  if (!watchdog) return false
  return watchdogAfterPoll({ ...watchdog, isEndDecided: undefined }, undefined, at).did !== undefined
}

function runsOn(watchdog: StoredWatchdog): StoredWatchdog {
  const { endsHere = 0, isEndDecided, ...rest } = watchdog
  if (endsHere === 0 && !isEndDecided) return watchdog
  return endsHere > 1 ? { ...rest, endsHere: endsHere - 1 } : rest
}

/** Why the watchdog acted, if it can have been the watchdog: its first condition that was due by then. */
function reasonFor(
  { request: wanted, there: request = wanted, report, renewedAt }: StoredWatchdog,
  action: WatchdogEnding['action'],
  at: number,
): WatchdogReason | undefined {
  if (report?.why === 'run') return 'run'
  if (request.action !== action) return undefined
  if (report?.why) return report.why
  // The clock may have been set back since.
  const seenAt = Math.min(report?.at ?? at, at)
  const moments: [WatchdogReason, number | undefined][] = [
    // A moment that had passed by the last visit without effect was dealt with before.
    ['time', request.at !== undefined && (!report || seenAt <= request.at + slack) ? request.at : undefined],
    [
      'idle',
      request.idle && report?.idleFor !== undefined
        ? report.at + request.idle.seconds - report.idleFor
        : undefined,
    ],
    ['lease', request.lease === undefined || renewedAt === undefined ? undefined : renewedAt + request.lease],
    // An instance that was busy at the last visit may have been idle ever since.
    ['idle', request.idle && report ? seenAt + request.idle.seconds : undefined],
  ]
  const due = moments.flatMap(([why, moment]) =>
    moment !== undefined && moment <= at + slack ? [{ why, moment }] : [],
  )
  const [first] = due.sort((a, b) => a.moment - b.moment)
  return first?.why
}

/** Seconds before a watchdog acts too early from which its user hears at once that it can't be told of a change. */
const toldWithin = 2 * 3600
/** Seconds without SSH after which its user hears of that, and of one that isn't there, whenever it acts. */
const missedFor = 300
/** Seconds by which one may act late or early, or a twentieth of what is left: a cost's moment is only known roughly. */
const most = { late: 600, early: 60 }

/** What its user must hear of a watchdog that can't be reached; `late` and `early` with its moment. */
export type Untold =
  | { kind: 'absent' }
  | { kind: 'unseen' }
  | { kind: 'late' | 'early'; action: LimitAction; at: number }

/** The same for one whose visits have failed for so many seconds; undefined for nothing. `boots`: its machine still does. */
export function untoldOf(
  { request, there, step, report }: StoredWatchdog,
  now: number,
  failsFor: number,
  boots: boolean = false,
): Untold | undefined {
  const isMissed = failsFor >= missedFor
  // What a run needs is no promise to its user. A start script's knows the time alone.
  const isAbsent = (['at', 'idle', 'lease'] as const).some(
    one => request[one] !== undefined && there?.[one] === undefined,
  )
  if (step === 'putting' && isAbsent) return isMissed ? { kind: 'absent' } : undefined
  if (there?.at === undefined || there.at < now) return undefined
  const { action, at } = there
  const wanted = step === 'removing' ? undefined : request.at
  const rest = ((wanted ?? at) - now) / 20
  if (wanted !== undefined && at > wanted + Math.max(most.late, rest)) return { kind: 'late', action, at }
  const isEarly = wanted === undefined || wanted > at + Math.max(most.early, rest)
  // While it boots its user may close the lid, and nothing would tell it of the change.
  const isUrgent = at <= now + toldWithin || (boots && action === 'destroy')
  if (isEarly) return isMissed || isUrgent ? { kind: 'early', action, at } : undefined
  // One that came with a rental is only believed to be there.
  return step === 'putting' && !report && !boots && isMissed ? { kind: 'unseen' } : undefined
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
    there: undefined,
    told: undefined,
    step: 'watching',
    report: {
      at,
      load,
      ...(blind ? { blind } : {}),
      idleFor,
      leasedFor,
      why,
      tries,
      did,
      key,
      comesBack: hooked || startsIt,
    },
    ...(renewed ? { renewedAt: at } : {}),
  }
}

/**
 * The watchdog's task on an instance, for its limits that also act while this computer sleeps and for runs
 * (`runsNeed`); undefined if none. A snooze moves its time, and leaves out what has none. It takes one action: where
 * some limits stop and others destroy, it stops at each of their moments, and Berth destroys once it's awake. `now`: epoch
 * seconds of the account's time. `momentOf`: see `momentAsleep`.
 */
export function watchdogRequest(
  limits: readonly StoredLimit[],
  runsNeed: boolean,
  now: number,
  momentOf: (limit: StoredLimit) => number | undefined = fixedMoment,
): WatchdogRequest | undefined {
  const asleep = limits.filter(({ asleep, ended }) => asleep && !ended)
  const action = asleep.length > 0 && asleep.every(limit => limit.action === 'destroy') ? 'destroy' : 'stop'
  const least = (values: readonly number[]) => (values.length === 0 ? undefined : Math.min(...values))
  const at = least(
    asleep.flatMap(limit => {
      const moment = momentOf(limit)
      return moment === undefined ? [] : Math.ceil(Math.max(moment, limit.snoozedUntil ?? 0))
    }),
  )
  const awake = asleep.filter(({ snoozedUntil = 0 }) => snoozedUntil <= now).map(({ when }) => when)
  const [idle] = awake
    .flatMap(when => (when.kind === 'idle' ? when : []))
    .sort((a, b) => a.seconds - b.seconds)
  const lease = least(awake.flatMap(when => (when.kind === 'away' ? Math.round(when.seconds) : [])))
  if (asleep.length === 0 && !runsNeed) return undefined
  return {
    action,
    ...(at !== undefined && { at }),
    ...(idle && { idle: { seconds: Math.round(idle.seconds), below: Math.max(1, Math.round(idle.below)) } }),
    ...(lease !== undefined && { lease }),
  }
}

/** Of an instance's limits the one for which its watchdog acted; undefined where none says why. */
export function limitOfWatchdog(
  limits: readonly StoredLimit[],
  { why, action, at }: WatchdogEnding,
): StoredLimit | undefined {
  const open = limits.filter(
    ({ asleep, ended, action: wanted, history }) =>
      asleep &&
      (wanted === action || action === 'stop') &&
      (!ended || (history.at(-1)?.at ?? 0) >= at - slack),
  )
  const shortest = (kind: 'idle' | 'away') =>
    open
      .flatMap(limit => (limit.when.kind === kind ? { limit, seconds: limit.when.seconds } : []))
      .sort((a, b) => a.seconds - b.seconds)[0]?.limit
  if (why === 'idle') return shortest('idle')
  if (why === 'lease') return shortest('away')
  if (why !== 'time') return undefined
  const moments = open.flatMap(limit => ({ limit, moment: fixedMoment(limit) ?? Number.POSITIVE_INFINITY }))
  const [first] = moments.sort((a, b) => a.moment - b.moment)
  if (first && first.moment <= at + slack) return first.limit
  const costs = open.flatMap(limit =>
    limit.when.kind === 'cost' ? { limit, dollars: limit.when.dollars } : [],
  )
  return costs.sort((a, b) => a.dollars - b.dollars)[0]?.limit
}

/** A limit on a cost for which the watchdog has just stopped the instance: it has acted. `at`: epoch seconds of the account's time. */
export function costReached(limit: StoredLimit, view: InstanceView, at: number): StoredLimit {
  const text = `Its watchdog stopped it. It has cost ${money(spentBy(view, at))} so far.`
  const done = withEvent(withoutWarning(withTargets(limit, [{ instance: view.id }])), at, text)
  return { ...done, ended: 'done' }
}

/** Seconds between visits, short enough that a lease survives a few failed ones. */
export function visitEvery({ request, foreign }: StoredWatchdog): number {
  if (request.lease === undefined || foreign) return 300
  return Math.min(300, Math.max(2, request.lease / 4))
}

/** Seconds between two checks of the watchdog itself. */
export function tickOf({ idle, lease }: WatchdogRequest): number {
  return Math.max(1, Math.min(10, Math.floor(Math.min(idle?.seconds ?? 60, lease ?? 60) / 4)))
}
