import { dueNext, type LimitView, limitsSet } from '#shared/automation/limit.ts'
import { conditionWords } from '#shared/automation/limit-words.ts'
import { isYetToEnd, type RunView } from '#shared/automation/run.ts'
import { runsOnceBack } from '#shared/derived.ts'
import { atMoment, moment, timeOfDay } from '#shared/format/time.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import { hasTrait } from '#shared/instance/state-traits.ts'
import { contractEndOf } from '#shared/spending/price-increase.ts'
import type { AccountView } from '#shared/state.ts'

/** An automatic event of an instance, if nothing changes until then. */
export interface Coming {
  /** Epoch seconds of the account's time. */
  at: number
  /** warns: only announced. ends: the instance is stopped or destroyed. other: neither. */
  kind: 'warns' | 'ends' | 'other'
  title: string
  about?: string
  limit?: LimitView
}

/**
 * An instance's automatic events after `now` (epoch seconds of the account's time), the soonest first. While Berth is
 * `hindered`, only those that come without it.
 */
export function comingUp(
  account: AccountView,
  instance: InstanceView,
  now: number,
  hindered = false,
): Coming[] {
  const watchdog = account.watchdogs[instance.id]?.step
  const watched = watchdog !== 'removing' && watchdog !== 'lost' && !isAway(instance)
  const due = dueNext(account).filter(
    ({ limit, dueAt }) =>
      dueAt > now &&
      concerns(limit, instance) &&
      // An idle time is not seen then.
      (!hindered || (watched && limit.asleep && limit.when.kind !== 'idle')),
  )
  const limited = due.flatMap(({ limit, dueAt }): Coming[] => {
    const ends: Coming = { at: dueAt, kind: 'ends', title: endWords(limit, instance, now), limit }
    if (hindered) return [{ ...ends, about: 'by its watchdog' }]
    const warnsAt = dueAt - limit.warning
    const warns = limit.warning > 0 && warnsAt > now && limit.step === 'waiting'
    return warns ? [{ at: warnsAt, kind: 'warns', title: 'Warns you', limit }, ends] : [ends]
  })
  const all = [...limited, ...others(hindered ? { ...account, recoveries: {} } : account, instance, now)]
  return all.sort((a, b) => a.at - b.at)
}

/** Whether a limit on the account has nothing to stop there, and could only destroy it. */
function hasOnlyDisk(instance: InstanceView): boolean {
  return hasTrait(instance.state, 'diskOnly') && !runsOnceBack(instance)
}

/** Whether it does not run: a limit that stops it only keeps it from coming back. */
function isAway({ state }: InstanceView): boolean {
  return hasTrait(state, 'diskOnly') || state === 'waiting'
}

function concerns(limit: LimitView, instance: InstanceView): boolean {
  if (limit.instance === undefined) return limit.action === 'destroy' || !hasOnlyDisk(instance)
  return limit.instance === instance.id
}

function endWords(limit: LimitView, on: InstanceView, now: number): string {
  const { instance, when, action } = limit
  if (instance === undefined)
    return `${hasOnlyDisk(on) ? 'May be destroyed' : 'May stop'}: ${conditionWords(limit, now)}`
  const isTimed = when.kind === 'time' || when.kind === 'duration'
  const stays = action === 'stop' && isAway(on)
  if (stays && isTimed) return 'Does not come back after'
  const does = stays ? 'Does not come back' : action === 'stop' ? 'Stops' : 'Destroys it'
  return isTimed ? does : `${does}: ${conditionWords(limit, now)}`
}

function others(
  { recoveries, priceIncreases, watchdogs }: Pick<AccountView, 'recoveries' | 'priceIncreases' | 'watchdogs'>,
  instance: InstanceView,
  now: number,
): Coming[] {
  const watchdog = watchdogs[instance.id]
  const theirs = watchdog?.foreign ? watchdog.request : undefined
  const recovery = recoveries[instance.id]
  const endsAt = contractEndOf(instance, priceIncreases[instance.id])
  const coming: Coming[] = []
  if (recovery?.step === 'waiting' && recovery.until !== undefined && recovery.until > now)
    coming.push({
      at: recovery.until,
      kind: 'other',
      title: recovery.choice.kind === 'replace' ? 'Looks for another' : 'Raises the bid',
    })
  if (theirs?.at !== undefined && theirs.at > now)
    coming.push({
      at: theirs.at,
      kind: 'other',
      title: `Another Berth’s watchdog ${theirs.action === 'stop' ? 'stops' : 'destroys'} it`,
    })
  if (endsAt !== undefined && endsAt > now)
    coming.push({ at: endsAt, kind: 'ends', title: 'Its contract ends' })
  return coming
}

/** The limits that may act on an instance: its own, and those on the whole account. */
export function limitsOn(account: AccountView, { id }: Pick<InstanceView, 'id'>): LimitView[] {
  return limitsSet([account]).filter(({ instance = id }) => instance === id)
}

/**
 * The next event of an instance as one sentence. `runs` are its runs; `rules`: whether any rule is on; `hindered`: its
 * limits cannot act now, so only its watchdog's action is named as well.
 */
export function nextSentence(
  instance: InstanceView,
  coming: readonly Coming[],
  runs: readonly RunView[],
  rules: boolean,
  now: number,
  hindered?: string,
): string {
  if (hindered !== undefined) {
    const watchdog = coming.find(({ about }) => about !== undefined)
    return watchdog ? `${hindered} ${withTime(watchdog, now)}` : hindered
  }
  const end = coming.find(({ kind, limit }) => kind === 'ends' && limit)
  const other = coming.find(({ kind }) => kind === 'other')
  const first = end && other && other.at < end.at ? other : (end ?? other)
  if (first?.limit) return limitWords(first.limit, instance, first.at, now)
  if (first) return withTime(first, now)
  const run = runs.find(one => isYetToEnd(one) && one.afterwards !== 'nothing')
  if (run) return `${run.afterwards === 'stop' ? 'Stops' : 'Is destroyed'} once ${run.name} has ended.`
  const rests =
    instance.state === 'outbid' ? 'outbid' : hasTrait(instance.state, 'halted') ? 'stopped' : undefined
  if (rules) return rests ? `Its limits are paused while it’s ${rests}.` : 'No limit is due right now.'
  const contract = coming.find(({ kind }) => kind === 'ends')
  if (!contract) return 'Nothing is scheduled.'
  const ends = hasTrait(instance.state, 'diskOnly') ? 'destroys' : 'stops'
  return `No limit of this Berth ${ends} it before its contract ends ${atMoment(contract.at, now)}.`
}

function withTime({ title, at, about }: Coming, now: number): string {
  return `${title} ${atMoment(at, now)}${about ? `, ${about}` : ''}.`
}

function limitWords(limit: LimitView, on: InstanceView, at: number, now: number): string {
  const { when } = limit
  const does = `${ending(limit, on)} ${moment(at, now)}`
  // Its cost by then differs from the limit's amount.
  if (limit.snoozedUntil !== undefined && at <= limit.snoozedUntil) return `${does}, when its extension ends.`
  return when.kind === 'time' || when.kind === 'duration'
    ? `${does}.`
    : `${does}, when ${conditionWords(limit, now)}.`
}

/** `Stops at`, before the moment. */
function ending({ instance, action }: LimitView, on: InstanceView): string {
  if (instance === undefined) return hasOnlyDisk(on) ? 'May be destroyed at' : 'May stop at'
  if (action === 'destroy') return 'Is destroyed at'
  return isAway(on) ? 'Does not come back after' : 'Stops at'
}

/** One event on the line, with its position in pixels. */
export interface Mark {
  coming: Coming
  x: number
  /** The label is above the line or below it; undefined where there is no room for one. */
  side?: 'above' | 'below'
  anchor: 'start' | 'middle' | 'end'
  /** Whether nothing ends the instance before. */
  sure: boolean
}

const labelWidth = 170

/**
 * The timeline, `width` pixels long. Events beyond four hours and beyond five times the time until the first end are
 * not on the line but in `beyond`. `end` is the first end in pixels.
 */
export function lineOfTime(
  coming: readonly Coming[],
  now: number,
  width: number,
): { marks: readonly Mark[]; end: number | undefined; beyond: readonly Coming[] } | undefined {
  const first = coming.find(({ kind }) => kind === 'ends') ?? coming[0]
  if (!first) return undefined
  const limit = now + Math.max(4 * 3600, 5 * (first.at - now))
  const within = coming.filter(({ at }) => at <= limit)
  const until = Math.max(...within.map(({ at }) => at))
  const scale = (width - 40) / Math.max(60, (until - now) * 1.04)
  const free = { above: 0, below: labelWidth }
  const marks = within.map((one): Mark => {
    const x = 8 + (one.at - now) * scale
    const anchor = x > width - labelWidth ? 'end' : 'start'
    const begin = anchor === 'end' ? x - labelWidth : x
    const preferred =
      one.kind === 'ends' && one === first ? (['below', 'above'] as const) : (['above', 'below'] as const)
    const side = preferred.find(name => begin >= free[name])
    if (side) free[side] = begin + labelWidth
    return { coming: one, x, anchor, sure: one.at <= first.at, ...(side && { side }) }
  })
  const end = first.kind === 'ends' ? marks.find(({ coming: one }) => one === first)?.x : undefined
  return { marks, end, beyond: coming.filter(({ at }) => at > limit) }
}

/** The timeline as text, for screen readers. */
export function lineWords(coming: readonly Coming[], now: number): string {
  return `Coming up: ${coming.map(({ at, title }) => `${at - now < 86_400 ? timeOfDay(at) : moment(at, now)} ${title}`).join('; ')}.`
}
