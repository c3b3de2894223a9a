import { duration, isoDay, moment, weekdayAndDay } from '#shared/format/time.ts'
import type { InstanceState, InstanceView } from '#shared/instance/instance.ts'
import { costBeforeCounting } from '#shared/spending/before-counting.ts'
import type { Saving } from '#shared/spending/forecast.ts'
import type { MoneyHistory } from '#shared/spending/history.ts'
import type { Micros } from '#shared/spending/money.ts'

/** The days that lanes show, by this computer's calendar, today last. */
export interface LaneDays {
  /** Epoch seconds of the account's time. */
  from: number
  to: number
  /** Oldest first: `Sun 22 Nov`, and the history's key, `2026-11-22`. */
  days: readonly { name: string; iso: string }[]
}

const dayCount = 7

export function laneDays(now: number): LaneDays {
  const date = new Date(now * 1000)
  const midnight = (back: number) => new Date(date.getFullYear(), date.getMonth(), date.getDate() - back)
  return {
    from: midnight(dayCount - 1).getTime() / 1000,
    to: midnight(-1).getTime() / 1000,
    days: Array.from({ length: dayCount }, (_, at) => {
      const day = midnight(dayCount - 1 - at)
      return { name: weekdayAndDay(day, date), iso: isoDay(day) }
    }),
  }
}

/** The activity of an instance: running, starting, or stopped with its disk. */
export type LaneKind = 'running' | 'busy' | 'resting'

const kinds: Record<InstanceState, LaneKind> = {
  provisioning: 'busy',
  loading: 'busy',
  running: 'running',
  restarting: 'running',
  frozen: 'running',
  stopping: 'running',
  stopped: 'resting',
  waiting: 'resting',
  outbid: 'resting',
  exited: 'busy',
  ended: 'resting',
  crashed: 'resting',
  unstartable: 'resting',
  silent: 'running',
  offline: 'resting',
  destroying: 'resting',
  other: 'busy',
}
type MarkKind = 'outbid' | 'offline' | 'crashed'

const marked: Partial<Record<InstanceState, MarkKind>> = {
  outbid: 'outbid',
  crashed: 'crashed',
  unstartable: 'crashed',
  offline: 'offline',
}

/** Times in epoch seconds of the account's time. */
export interface Lane {
  parts: readonly { from: number; to: number; kind: LaneKind }[]
  marks: readonly { at: number; kind: MarkKind }[]
  /** The lane in words. */
  about: string
}

/** Activity of an instance in these days, as far as Berth saw it; if it ran when first seen, since it was rented. */
export function laneOf({ history, startedAt }: InstanceView, { from }: LaneDays, now: number): Lane {
  const [first] = history
  const runsSince =
    first && kinds[first.state] === 'running' && startedAt !== undefined && startedAt < first.at
      ? [{ ...first, at: startedAt }]
      : []
  const changes = [...runsSince, ...history]
  const parts: Lane['parts'][number][] = []
  const marks: Lane['marks'][number][] = []
  for (const [index, { at, state }] of changes.entries()) {
    const until = Math.min(now, changes[index + 1]?.at ?? now)
    const kind = kinds[state]
    const before = changes[index - 1]
    const mark = marked[state]
    if (mark && at >= from && (!before || marked[before.state] !== mark)) marks.push({ at, kind: mark })
    if (until <= from || until <= at) continue
    const last = parts.at(-1)
    if (last?.kind === kind) last.to = until
    else parts.push({ from: Math.max(from, at), to: until, kind })
  }
  const ran = parts.reduce((sum, part) => sum + (part.kind === 'running' ? part.to - part.from : 0), 0)
  const events = marks.map(({ at, kind }) => `${kind} ${moment(at, now)}`)
  return { parts, marks, about: [ran > 0 ? `ran ${duration(ran)}` : 'did not run', ...events].join(', ') }
}

/** The cost of these days: in all, by instance, and by day for instances that are gone. */
export interface WeekCosts {
  total: Micros
  instances: ReadonlyMap<string, Micros>
  /** Until when the cost of each is from the service's own list of charges, in epoch seconds. */
  chargedUntil: ReadonlyMap<string, number>
  gone: { count: number; total: Micros; byDay: readonly Micros[] }
}

export function weekCosts(
  { days }: Pick<MoneyHistory, 'days'>,
  there: Readonly<Record<string, unknown>>,
  shown: LaneDays['days'],
): WeekCosts {
  const instances = new Map<string, Micros>()
  const chargedUntil = new Map<string, number>()
  const gone = new Set<string>()
  const week = shown.map(({ iso }) => days.find(({ day }) => day === iso))
  const byDay = week.map(day => {
    let sum = 0
    for (const id in day?.charged) chargedUntil.set(id, dayEnd(day.day))
    for (const [id, spent] of Object.entries(day?.instances ?? {})) {
      instances.set(id, (instances.get(id) ?? 0) + spent)
      if (id in there) continue
      gone.add(id)
      sum += spent
    }
    return sum
  })
  return {
    total: week.reduce((sum, day) => sum + (day?.spent ?? 0), 0),
    instances,
    chargedUntil,
    gone: { count: gone.size, total: byDay.reduce((a, b) => a + b, 0), byDay },
  }
}

/** `2026-11-21`, as epoch seconds. */
function dayEnd(iso: string): number {
  const [year = 0, month = 1, day = 1] = iso.split('-').map(Number)
  return new Date(year, month - 1, day + 1).getTime() / 1000
}

/** Seconds: longer forecasts show as more than a year. */
export const farthest = 365 * 86_400

/** What an instance cost in these days; `isEstimated` where part of that is from before Berth counted its account. */
export function weekCost(
  { instances, chargedUntil }: Pick<WeekCosts, 'instances' | 'chargedUntil'>,
  instance: InstanceView,
  { from }: LaneDays,
): { spent: Micros | undefined; isEstimated: boolean } {
  const id = String(instance.id)
  const before = costBeforeCounting(instance, Math.max(from, chargedUntil.get(id) ?? from))
  const spent = (instances.get(id) ?? 0) + before
  return { spent: instance.costUnknown && spent === 0 ? undefined : spent, isEstimated: before > 0 }
}

/** How much longer the credit lasts without an instance; empty where it is used up already. */
export function gainWords({ wins }: Pick<Saving, 'wins'>, usedUp: boolean): string {
  if (wins === undefined) return 'Ends all spending'
  if (usedUp) return ''
  return wins > farthest ? 'Over a year' : `+${duration(wins)}`
}
