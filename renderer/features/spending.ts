import { instanceName } from '#shared/format/name.ts'
import { isoDay, monthAndYear, monthDay, monthInFull, monthName, weekdayAndDay } from '#shared/format/time.ts'
import { type CountedAccount, firstDaySince } from '#shared/spending/before-counting.ts'
import type { ChargedKinds, InstanceUse, MoneyDay, MoneyHistory } from '#shared/spending/history.ts'
import type { Micros } from '#shared/spending/money.ts'

/** This month, the last 90 days, or the last 12 months. */
export type Span = 'month' | 'quarter' | 'year'
export type By = 'model' | 'instance' | 'project' | 'kind'

/** A period and its cost. */
export interface Bar {
  /** As short as an axis needs; empty where the axis has no mark. */
  label: string
  title: string
  spent: Micros
  /** It is yet to come. */
  ahead?: true
  /** A top-up in it was only estimated, and so this is. */
  estimated?: true
  /** All of it is as the service charged it. */
  charged?: true
  /** Whose it was, in the order of the stacks' names. */
  parts: readonly Micros[]
  /** The days in it that Berth knows. */
  days: readonly MoneyDay[]
}

/** Bars in different colors for each instance, project or kind. */
export interface Stacks {
  /** Whose the parts are: the dearest first, which lie at the bottom, and the rest last. At most `mostSeries`. */
  names: readonly string[]
  /** The color of each, 1 to `mostSeries`; the rest always has the last. */
  series: readonly number[]
  bars: readonly Bar[]
}

/** Who spent how much: `share` is of the sum, 0 to 1. */
export interface SpendingRow {
  name: string
  spent: Micros
  today: Micros
  share: number
  /** The GPU model, instance id, project or kind that it is; absent for the rest. */
  of?: string
}

/** More colors can't be distinguished, so the rest becomes one. */
export const mostSeries = 6

/** What was spent in each day or month of a span, parted by whose it was. `now` in epoch seconds. */
export function stacks(history: MoneyHistory, span: Span, now: number, by: By): Stacks {
  const rows = spenders(history, span, now, by)
  const own = rows.length > mostSeries ? rows.slice(0, mostSeries - 1) : rows
  const bars = stretches(span, now).map(({ isIn, ...stretch }) => {
    const days = history.days.filter(isIn)
    const bar = { ...stretch, ...spentOn(days), days }
    const shares = sharesOfAll({ ...history, days }, by)
    const partOf = (of: string | undefined) =>
      of === undefined ? Math.max(0, bar.spent - valueSum(shares)) : (shares.get(of) ?? 0)
    const parts = own.map(({ of }) => partOf(of))
    const rest = Math.max(0, bar.spent - parts.reduce((a, b) => a + b, 0))
    return { ...bar, parts: rows.length > own.length ? [...parts, rest] : parts }
  })
  const names = own.map(({ name }) => name)
  const series = own.map(({ of }, at) => (of === undefined ? mostSeries : at + 1))
  if (rows.length === own.length) return { names, series, bars }
  return { names: [...names, `${rows.length - own.length} others`], series: [...series, mostSeries], bars }
}

type Stretch = Pick<Bar, 'label' | 'title' | 'ahead'> & { isIn(day: MoneyDay): boolean }

/** The days or months that a bar each stands for. */
function stretches(span: Span, now: number): Stretch[] {
  const date = new Date(now * 1000)
  const [year, month, day] = [date.getFullYear(), date.getMonth(), date.getDate()]
  const onDay = (at: Date, label: string): Stretch => ({
    label,
    title: weekdayAndDay(at, date),
    ...(at > date ? { ahead: true } : {}),
    isIn: known => known.day === isoDay(at),
  })
  const counted = <Item>(count: number, one: (at: number) => Item) =>
    Array.from({ length: count }, (_, at) => one(at))
  if (span === 'month')
    return counted(daysInMonth(date), at => {
      const marked = at === 0 || (at + 1) % 7 === 0
      return onDay(new Date(year, month, at + 1), marked ? String(at + 1) : '')
    })
  if (span === 'quarter')
    return counted(90, at => {
      const one = new Date(year, month, day - 89 + at)
      return onDay(one, at % 15 === 0 ? monthDay(one) : '')
    })
  return counted(12, at => {
    const one = new Date(year, month - 11 + at)
    const prefix = isoDay(one).slice(0, 7)
    return { label: monthName(one), title: monthAndYear(one), isIn: known => known.day.startsWith(prefix) }
  })
}

/** The same money by GPU model, instance, project or kind, the most first and the rest last, and how much of it was today. */
export function spenders({ days, names }: MoneyHistory, span: Span, now: number, by: By): SpendingRow[] {
  const shown = days.filter(({ day }) => day >= firstDay(span, now))
  const today = shown.filter(({ day }) => day === isoDay(new Date(now * 1000)))
  const sharesOfPart = (part: readonly MoneyDay[]) => sharesOfAll({ days: part, names }, by)
  const [all, ofToday] = [sharesOfPart(shown), sharesOfPart(today)]
  const total = sum(shown)
  const rest = total - valueSum(all)
  const restToday = sum(today) - valueSum(ofToday)
  const rows: Omit<SpendingRow, 'share'>[] = [...all].map(([id, spent]) => ({
    of: id,
    name: nameOf(id, by, names),
    spent,
    today: ofToday.get(id) ?? 0,
  }))
  const isOther = ({ of }: (typeof rows)[number]) => by === 'kind' && of === 'other'
  rows.sort((a, b) => Number(isOther(a)) - Number(isOther(b)) || b.spent - a.spent)
  if (rest > 0) rows.push({ name: restName, spent: rest, today: Math.max(0, restToday) })
  return rows.map(row => ({ ...row, share: total === 0 ? 0 : row.spent / total }))
}

/** All that was spent in a span, and today, as its bars have it: what its spenders share may differ by cents. */
export function spentIn({ days }: Pick<MoneyHistory, 'days'>, span: Span, now: number) {
  const shown = days.filter(({ day }) => day >= firstDay(span, now))
  return { spent: sum(shown), today: sum(shown.filter(({ day }) => day === isoDay(new Date(now * 1000)))) }
}

/** An instance's cost in the days of a bar. Without `id`: the cost of no single instance. */
export interface InstanceCost extends InstanceUse {
  id?: string
  name: string
  project?: string
  spent: Micros
}

/** The instances of some days, the most expensive first; kinds and hours where they are known. */
export function instanceCosts({ days, names }: Pick<MoneyHistory, 'days' | 'names'>): InstanceCost[] {
  const costs = new Map<string, InstanceCost>()
  for (const { instances, charged, uses = {} } of days)
    for (const [id, spent] of Object.entries(instances)) {
      const before = costs.get(id) ?? {
        id,
        name: nameOf(id, 'instance', names),
        project: names[id]?.project,
        spent: 0,
      }
      const { ran, ...counted } = uses[id] ?? {}
      costs.set(id, {
        ...before,
        spent: before.spent + spent,
        ...added(before, { ran, ...(charged?.[id] ?? counted) }),
      })
    }
  const rows = [...costs.values()].filter(({ spent }) => spent > 0).sort((a, b) => b.spent - a.spent)
  const rest = sum(days) - rows.reduce((total, { spent }) => total + spent, 0)
  return rest > 0 ? [...rows, { name: restName, spent: rest }] : rows
}

/** Two uses together; what neither knows stays unknown. */
function added(before: InstanceUse, more: InstanceUse): InstanceUse {
  return Object.fromEntries(
    (['ran', ...chargedKinds] as const).flatMap(kind =>
      more[kind] === undefined ? [] : [[kind, (before[kind] ?? 0) + more[kind]]],
    ),
  )
}

/** The bars that cost something as rows, the newest first. */
export function rowsOf(shown: readonly Bar[]): Bar[] {
  return shown.filter(({ spent }) => spent > 0).reverse()
}

/** What a month has cost, where Berth knows any of its days. */
export interface MonthFigure {
  /** `November`. */
  month: string
  spent: Micros
  /** The first day of it that is known, where that is not its first: `12 Nov`; on that day `13:39, before ≈ $19.63`. */
  since?: string
}

/** This month so far and by its end, and the month before it. */
export interface MonthFigures {
  now: MonthFigure
  before?: MonthFigure
  /** `30 November`. */
  end: string
  /** What 24 hours cost of late, and this month by its end at that; absent while no whole day is known. */
  forecast?: { perDay: Micros; byEnd: Micros }
}

/** Days whose mean is the forecast: the last of them is today, of which only what has passed counts. */
const forecastDays = 14

export function monthFigures(
  { days }: Pick<MoneyHistory, 'days'>,
  now: number,
  instances: CountedAccount['instances'] = {},
): MonthFigures {
  const date = new Date(now * 1000)
  const [year, month, day] = [date.getFullYear(), date.getMonth(), date.getDate()]
  const thisMonth = monthFigure(days, date)
  const firstDay = firstDaySince(days, { instances, now }, new Date(year, month).getTime() / 1000)
  const last = new Date(year, month, daysInMonth(date))
  const today = isoDay(date)
  const passed = (now * 1000 - new Date(year, month, day).getTime()) / 86_400_000
  const whole = Math.min(forecastDays - 1, wholeDays(days, today))
  const from = isoDay(new Date(year, month, day - whole))
  const span = days.filter(one => one.day >= from && one.day <= today)
  const perDay = Math.round(sum(span) / (whole + passed))
  const left = Math.round(perDay * (last.getDate() - day + 1 - passed))
  const before = monthFigure(days, new Date(year, month - 1))
  return {
    now: { ...(thisMonth ?? { month: monthInFull(date), spent: 0 }), ...(firstDay && { since: firstDay }) },
    ...(before ? { before } : {}),
    end: `${last.getDate()} ${monthInFull(last)}`,
    ...(whole > 0 ? { forecast: { perDay, byEnd: (thisMonth?.spent ?? 0) + left } } : {}),
  }
}

/** Days before today that are known from their begin: on the very first one Berth may have begun at any hour. */
function wholeDays([first]: readonly MoneyDay[], today: string): number {
  return first ? Math.max(0, daysBetween(first.day, today) - 1) : 0
}

function monthFigure(days: readonly MoneyDay[], of: Date): MonthFigure | undefined {
  const prefix = isoDay(of).slice(0, 7)
  const monthDays = days.filter(({ day }) => day.startsWith(prefix))
  const [first] = monthDays
  if (!first) return undefined
  const since = days[0] === first && !first.day.endsWith('-01') ? { since: monthDay(dateOf(first.day)) } : {}
  return { month: monthInFull(of), spent: sum(monthDays), ...since }
}

/** What a day cost on average in the week before today, of the days that are known: `a day since 27 Nov`. */
export function usualDay(
  { days }: Pick<MoneyHistory, 'days'>,
  now: number,
): { mean: Micros; over: string } | undefined {
  const today = isoDay(new Date(now * 1000))
  const before = days.filter(({ day }) => day < today && daysBetween(day, today) <= 7)
  const [first] = days
  if (!first || before.length === 0) return undefined
  const count = Math.min(7, daysBetween(first.day, today))
  const over = { 1: 'yesterday', 7: 'a day last week' }[count] ?? `a day since ${monthDay(dateOf(first.day))}`
  const mean = Math.round(sum(before) / count)
  return mean > 0 ? { mean, over } : undefined
}

export function sum(parts: readonly Pick<MoneyDay, 'spent'>[]): Micros {
  return parts.reduce((total, { spent }) => total + spent, 0)
}

function dateOf(day: string): Date {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number)
  return new Date(year, month - 1, date)
}

function daysBetween(first: string, last: string): number {
  return Math.round((dateOf(last).getTime() - dateOf(first).getTime()) / 86_400_000)
}

function daysInMonth(date: Date): number {
  return new Date(date.getFullYear(), date.getMonth() + 1, 0).getDate()
}

function sharesOfAll({ days, names }: Pick<MoneyHistory, 'days' | 'names'>, by: By): Map<string, Micros> {
  const totals = new Map<string, Micros>()
  for (const day of days)
    for (const [id, spent] of Object.entries(sharesOf(day, by))) {
      const whose = by === 'project' ? names[id]?.project : id
      if (whose !== undefined) totals.set(whose, (totals.get(whose) ?? 0) + spent)
    }
  return totals
}

function valueSum(totals: ReadonlyMap<string, Micros>): Micros {
  return [...totals.values()].reduce((a, b) => a + b, 0)
}

function sharesOf({ models, instances, charged, uses }: MoneyDay, by: By): Readonly<Record<string, Micros>> {
  if (by === 'kind') return kindsOf(Object.values(charged ?? uses ?? {}))
  return by === 'model' ? models : instances
}

function kindsOf(instances: readonly ChargedKinds[]): Readonly<Record<string, Micros>> {
  const kinds: Record<string, Micros> = {}
  for (const parts of instances)
    for (const kind of chargedKinds) if (parts[kind]) kinds[kind] = (kinds[kind] ?? 0) + parts[kind]
  return kinds
}

const chargedKinds = ['gpu', 'disk', 'traffic', 'other'] as const
const restName = 'Other'
/** What that is. */
export const otherTitle = 'Volumes, and what left the credit without an instance whose price explains it'
const kindNames: Readonly<Record<string, string>> = {
  gpu: 'GPU',
  disk: 'Disk',
  traffic: 'Traffic',
  other: 'Other',
}

function nameOf(id: string, by: By, names: MoneyHistory['names']): string {
  if (by === 'kind') return kindNames[id] ?? id
  if (by === 'project') return id
  if (by === 'model') return id || 'Unknown GPU'
  return instanceName({ id, label: names[id]?.label, gpu: { name: names[id]?.gpu } })
}

function spentOn(days: readonly MoneyDay[]): Pick<Bar, 'spent' | 'estimated' | 'charged'> {
  const costly = days.filter(({ spent }) => spent > 0)
  return {
    spent: sum(days),
    ...(days.some(({ estimated }) => estimated) ? { estimated: true } : {}),
    ...(costly.length > 0 && costly.every(({ charged }) => charged) ? { charged: true } : {}),
  }
}

function firstDay(span: Span, now: number): string {
  const date = new Date(now * 1000)
  const [year, month, day] = [date.getFullYear(), date.getMonth(), date.getDate()]
  if (span === 'month') return isoDay(new Date(year, month))
  return isoDay(span === 'quarter' ? new Date(year, month, day - 89) : new Date(year, month - 11))
}
