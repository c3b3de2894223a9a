import { isNear } from '#renderer/features/limits/limitWords.ts'
import { actsIn, hasEnded, type LimitView, type LimitWhen } from '#shared/automation/limit.ts'
import { conditionBriefly, watchdogWords } from '#shared/automation/limit-words.ts'
import { isGoing } from '#shared/automation/run.ts'
import { conditionsOf, type WatchdogRequest, type WatchdogView } from '#shared/automation/watchdog.ts'
import { money } from '#shared/format/money.ts'
import { atMoment, duration, moment, timeOfDay, weekdayAndDay } from '#shared/format/time.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import { micros } from '#shared/spending/money.ts'
import type { AccountView } from '#shared/state.ts'

/** Something that will stop or destroy an instance. */
export interface UpcomingEnd {
  /** limit: Berth, while this computer is awake. watchdog: the instance itself, also while it sleeps. run: the end of a run. */
  by: 'limit' | 'watchdog' | 'run'
  action: 'stop' | 'destroy'
  /** Epoch seconds of the account's time; absent where the moment isn't known. */
  at?: number
  /** The condition in a few words, such as `if idle 30 min`: shown without a moment. */
  when: string
  /** The action and the condition in a sentence. */
  about: string
  /** Whether Berth has to reach the service to act. */
  needsBerth: boolean
  /** Its moment follows the GPU load, and isn't known while Berth sees none. */
  byLoad?: boolean
}

/** An instance's upcoming stops, the soonest first, those without a moment last. */
export function upcomingEnds(
  { limits, watchdogs, runs }: Pick<AccountView, 'limits' | 'watchdogs' | 'runs'>,
  instance: InstanceView,
): UpcomingEnd[] {
  const installed = watchdogs[instance.id]
  const watchdog = watching(installed)
  const own = Object.values(limits).filter(
    limit => limit.instance === instance.id && !hasEnded(limit) && actsIn(instance.state, limit),
  )
  const stops = own.map((limit): UpcomingEnd => {
    const asleep = watchdog !== undefined && limit.asleep && keeps(watchdog, limit)
    // One that also serves a limit that stops destroys nothing.
    const doesSame = asleep && watchdog.request.action === limit.action
    const alone = doesSame ? 'does too' : 'stops it then'
    return {
      by: doesSame ? 'watchdog' : 'limit',
      action: limit.action,
      ...(limit.dueAt !== undefined && { at: limit.dueAt }),
      when: conditionBriefly(limit.when),
      about: `${limit.sentence}${asleep ? ` Its watchdog ${alone}, even while this computer sleeps.` : ''}`,
      needsBerth: !asleep,
      byLoad: limit.when.kind === 'idle',
    }
  })
  if (watchdog?.foreign && actsIn(instance.state, watchdog.request))
    stops.push({
      by: 'watchdog',
      action: watchdog.request.action,
      ...(watchdog.request.at !== undefined && { at: watchdog.request.at }),
      when: 'by another Berth',
      about: `By another Berth: ${watchdogWords(watchdog.request, 0)}`,
      needsBerth: false,
    })
  if (installed?.there && installed.step !== 'lost' && actsIn(instance.state, installed.there))
    stops.push(...formerEnds(installed, installed.there))
  for (const run of Object.values(runs))
    if (run.instance === instance.id && run.afterwards !== 'nothing' && isGoing(run))
      stops.push({
        by: 'run',
        action: run.afterwards,
        when: 'after its run',
        about: `${run.afterwards === 'stop' ? 'Stops' : 'Is destroyed'} once ${run.name} has ended.`,
        needsBerth: !run.watchdog,
      })
  return stops.sort((a, b) => (a.at ?? Number.MAX_VALUE) - (b.at ?? Number.MAX_VALUE))
}

/** Seconds by which a watchdog's moment may differ from what is wanted and still be the same. */
const sameMoment = 60

/** What the watchdog on the instance still goes by while it can't be told of a change, where that ends the instance otherwise. */
function formerEnds({ request, step }: WatchdogView, there: WatchdogRequest): UpcomingEnd[] {
  const wanted = step === 'removing' ? [] : conditionsOf(request)
  const isWanted = (when: LimitWhen) =>
    wanted.some(other =>
      when.kind === 'time' && other.kind === 'time'
        ? Math.abs(when.at - other.at) <= sameMoment
        : JSON.stringify(when) === JSON.stringify(other),
    )
  return conditionsOf(there)
    .filter(when => there.action !== request.action || !isWanted(when))
    .map(when => ({
      by: 'watchdog',
      action: there.action,
      ...(when.kind === 'time' && { at: when.at }),
      when: conditionBriefly(when),
      about: `Its watchdog can’t be told of the change yet, and still goes by this: ${watchdogWords(there, 0)}`,
      needsBerth: false,
    }))
}

/** Whether the watchdog acts by a limit in time, as one that can't be told of a change may not. */
function keeps({ step, there }: WatchdogView, { action, when, dueAt }: LimitView): boolean {
  if (step === 'watching' || there === undefined) return true
  const isKept = (known: LimitWhen) =>
    known.kind === 'time'
      ? dueAt !== undefined && known.at <= dueAt + sameMoment
      : JSON.stringify(known) === JSON.stringify(when)
  return there.action === action && conditionsOf(there).some(isKept)
}

/** A watchdog that is on the instance, as far as is known, and stays. */
function watching(watchdog: WatchdogView | undefined): WatchdogView | undefined {
  const isThere =
    watchdog?.step === 'watching' || (watchdog?.step === 'putting' && watchdog.there && !watchdog.unseen)
  return isThere ? watchdog : undefined
}

/** Seconds before a limit acts from which it stands out, so that the user can still answer. */
export const standsOut = 1800

/** Seconds ahead up to which a time of day is clear beside the time that is left. */
const aDay = 86_400

/**
 * A stop in its cell: `7 h 48 min` and `16:49`, `12 d 14 h` and `Sat 12 Dec`, or its condition where the moment isn't known;
 * `destroyed in 7 h 48 min`. `now`: epoch seconds of the account's time. `soon`: within half an hour. `hindered`: Berth can't
 * act now, so an idle time isn't known either.
 */
export function endWords(
  stop: UpcomingEnd,
  now: number,
  hindered: boolean,
): { text: string; at?: string; soon: boolean } {
  const { action, at, when, byLoad } = stop
  const destroys = action === 'destroy'
  if (at === undefined || (hindered && byLoad))
    return { text: destroys ? `destroyed ${when}` : when, soon: false }
  const left = Math.max(0, at - now)
  const day = weekdayAndDay(new Date(at * 1000), new Date(now * 1000))
  // It isn't known to have happened, as where nothing was seen since.
  if (left === 0) return { text: destroys ? 'destroy due' : 'due', at: timeOfDay(at), soon: true }
  const text = destroys ? `destroyed in ${duration(left)}` : duration(left)
  return { text, at: left < aDay ? timeOfDay(at) : day, soon: left <= standsOut }
}

/** The limit on an instance that acts next, or waits to act. */
export function nextLimit(limits: readonly LimitView[], instance: InstanceView): LimitView | undefined {
  return limits
    .filter(limit => limit.instance === instance.id && !hasEnded(limit))
    .filter(limit => isNear(limit) || limit.dueAt !== undefined)
    .filter(limit => limit.step === 'acting' || actsIn(instance.state, limit))
    .sort((a, b) => (a.dueAt ?? 0) - (b.dueAt ?? 0))[0]
}

/** Whether it acts when its snooze ends; after a later start of the idle time it acts later. */
function isPutOff({ dueAt, snoozedUntil }: LimitView): boolean {
  return snoozedUntil !== undefined && dueAt === snoozedUntil
}

/** The limit's action, with its time and reason: `Next: stops at 15:19, when it has cost $9.00.` */
export function nextLimitWords(limit: LimitView, now: number): string {
  const { action, when, dueAt, problem, step } = limit
  const doing = action === 'destroy' ? 'destroys it' : 'stops'
  if (step === 'acting') return action === 'destroy' ? 'Destroying it now.' : 'Stopping it now.'
  if (problem) return problem.message
  if (dueAt === undefined) return ''
  const then = dueAt <= now ? 'as soon as the service answers' : `${atMoment(dueAt, now)}`
  switch (when.kind) {
    case 'idle':
      if (isPutOff(limit))
        return `Kept running until ${moment(dueAt, now)}: ${doing} then if it is still idle.`
      return `Idle since ${moment(dueAt - when.seconds, now)}: ${doing} ${then}.`
    case 'cost':
      if (isPutOff(limit))
        return `Kept running until ${moment(dueAt, now)}: ${doing} then, beyond its ${money(micros(when.dollars))}.`
      return `Next: ${doing} ${then}, when it has cost ${money(micros(when.dollars))}.`
    case 'duration':
      return `Next: ${doing} ${then}, after ${duration(when.seconds)}.`
    default:
      return `Next: ${doing} ${then}.`
  }
}

/** Whether the words have a button *Keep running*. */
export function wantsAnswer(limit: LimitView, now: number): boolean {
  return isNear(limit) || (limit.dueAt !== undefined && limit.dueAt - now <= standsOut)
}
