import {
  isoDay,
  monthAndYear,
  monthDay,
  monthName,
  weekdayAndDay,
} from '../../../../electron/contract/format/calendar.ts'
import { instanceName } from '../../../../electron/contract/format/name.ts'
import type {
  ChargedKinds,
  MoneyDay,
  MoneyHistory,
  SpenderName,
} from '../../../../electron/contract/spending/history.ts'
import type { Micros } from '../../../../electron/contract/spending/money.ts'

export type Span = 'today' | 'month' | 'year'
export type By = 'time' | 'model' | 'instance' | 'kind'

/** A stretch of time and what it cost. */
export interface Bar {
  /** As short as an axis needs, and in full. */
  label: string
  title: string
  spent: Micros
  /** A top-up in it was only estimated, and so this is. */
  estimated?: true
  /** All of it is as the service charged it. */
  charged?: true
  /** Whose it was, in the order of the stacks' names. */
  parts?: readonly Micros[]
}

/** Bars that are told apart by whose money they are. */
export interface Stacks {
  /** Whose the parts are: the dearest first, which lie at the bottom. Never more than six. */
  names: readonly string[]
  bars: readonly Bar[]
}

/** A row of the table: `share` is of the sum, 0 to 1. */
export interface SpendingRow {
  name: string
  spent: Micros
  share: number
  estimated?: true
  charged?: true
  /** The GPU model or instance id that it is of; absent for what is of none. */
  of?: string
}

/** Stacks of more parts cannot be told apart: the rest is one. */
const mostParts = 6

/** What was spent, in bars: the hours of today, the last 30 days, or the last 12 months. `now` in epoch seconds. */
export function bars({ samples, days }: MoneyHistory, span: Span, now: number): Bar[] {
  if (span === 'today') {
    const date = new Date(now * 1000)
    const [year, month, day] = [date.getFullYear(), date.getMonth(), date.getDate()]
    // An hour by the clock is two, or none, where clocks are changed.
    const begin = (hour: number) => new Date(year, month, day, hour).getTime() / 1000
    return Array.from({ length: date.getHours() + 1 }, (_, hour) => {
      const spent = sum(samples.filter(({ at }) => at > begin(hour) && at <= begin(hour + 1)))
      return { label: `${hour}:00`, title: `${hour}:00 to ${hour + 1}:00`, spent }
    })
  }
  return stretches(span, now).map(({ isIn, ...name }) => ({ ...name, ...spentOn(days.filter(isIn)) }))
}

/** The same bars, parted by GPU model or by instance. Hours are not kept apart like that: today is one bar. */
export function stacks(history: MoneyHistory, span: Span, now: number, by: Exclude<By, 'time'>): Stacks {
  const rows = spenders(history, span, now, by)
  const own = rows.length > mostParts ? rows.slice(0, mostParts - 1) : rows
  const more = rows.length - own.length
  const bars = stretches(span, now).map(({ isIn, ...name }) => {
    const days = history.days.filter(isIn)
    const bar = { ...name, ...spentOn(days) }
    const ofAll = days.flatMap(day => Object.values(sharesOf(day, by))).reduce((a, b) => a + b, 0)
    const partOf = (of: string | undefined) =>
      of === undefined
        ? Math.max(0, bar.spent - ofAll)
        : days.reduce((sum, day) => sum + (sharesOf(day, by)[of] ?? 0), 0)
    const parts = own.map(({ of }) => partOf(of))
    const rest = Math.max(0, bar.spent - parts.reduce((a, b) => a + b, 0))
    return { ...bar, parts: more > 0 ? [...parts, rest] : parts }
  })
  const names = own.map(({ name }) => name)
  return { names: more > 0 ? [...names, `${more} others`] : names, bars }
}

/** The days or months that a bar each stands for. */
function stretches(
  span: Span,
  now: number,
): (Pick<Bar, 'label' | 'title'> & { isIn(day: MoneyDay): boolean })[] {
  const date = new Date(now * 1000)
  const dates = (count: number, at: (back: number) => Date) =>
    Array.from({ length: count }, (_, index) => at(count - 1 - index))
  const [year, month, day] = [date.getFullYear(), date.getMonth(), date.getDate()]
  if (span === 'today')
    return [{ label: 'Today', title: weekdayAndDay(date, date), isIn: known => known.day === isoDay(date) }]
  if (span === 'month')
    return dates(30, back => new Date(year, month, day - back)).map(at => ({
      label: monthDay(at),
      title: weekdayAndDay(at, date),
      isIn: known => known.day === isoDay(at),
    }))
  return dates(12, back => new Date(year, month - back)).map(at => ({
    label: monthName(at),
    title: monthAndYear(at),
    isIn: known => known.day.startsWith(isoDay(at).slice(0, 7)),
  }))
}

/** The sum of what is shown, by whole days: samples may lie across a midnight. */
export function total({ days }: MoneyHistory, span: Span, now: number): Micros {
  const first = firstDay(span, now)
  return sum(
    days.filter(({ day }) => (span === 'year' ? day.slice(0, 7) >= first.slice(0, 7) : day >= first)),
  )
}

/** The same money by GPU model or by instance, the most first. The rows add up to the bars of whole days. */
export function spenders(
  { days, names }: MoneyHistory,
  span: Span,
  now: number,
  by: Exclude<By, 'time'>,
): SpendingRow[] {
  const shown = days.filter(({ day }) => day >= firstDay(span, now))
  const totals = new Map<string, Micros>()
  for (const day of shown)
    for (const [id, spent] of Object.entries(sharesOf(day, by))) totals.set(id, (totals.get(id) ?? 0) + spent)
  const total = sum(shown)
  const rest = total - [...totals.values()].reduce((a, b) => a + b, 0)
  const rows: Omit<SpendingRow, 'share'>[] = [...totals].map(([id, spent]) => ({
    of: id,
    name: nameOf(id, by, names),
    spent,
  }))
  if (rest > 0) rows.push({ name: restNames[by], spent: rest })
  return withShares(rows.sort((a, b) => b.spent - a.spent))
}

/** The bars as rows, the newest first, without those that cost nothing. */
export function rowsOf(shown: readonly Bar[]): SpendingRow[] {
  const rows = shown
    .filter(({ spent }) => spent > 0)
    .map(({ label: _, title, ...rest }) => ({ name: title, ...rest }))
  return withShares(rows.reverse())
}

function withShares(rows: readonly Omit<SpendingRow, 'share'>[]): SpendingRow[] {
  const total = sum(rows)
  return rows.map(row => ({ ...row, share: total === 0 ? 0 : row.spent / total }))
}

export function sum(parts: readonly Pick<MoneyDay, 'spent'>[]): Micros {
  return parts.reduce((total, { spent }) => total + spent, 0)
}

function sharesOf(
  { models, instances, charged = {} }: MoneyDay,
  by: Exclude<By, 'time'>,
): Readonly<Record<string, Micros>> {
  if (by === 'kind') return kindsOf(Object.values(charged))
  return by === 'model' ? models : instances
}

function kindsOf(instances: readonly ChargedKinds[]): Readonly<Record<string, Micros>> {
  const kinds: Record<string, Micros> = {}
  for (const parts of instances)
    for (const [kind, spent] of Object.entries(parts)) kinds[kind] = (kinds[kind] ?? 0) + spent
  return kinds
}

const restNames = { model: 'Not of one GPU', instance: 'Not of one instance', kind: 'Not told by kind' }
const kindNames: Readonly<Record<string, string>> = {
  gpu: 'GPU',
  disk: 'Disk',
  traffic: 'Traffic',
  other: 'Other',
}

function nameOf(id: string, by: Exclude<By, 'time'>, names: MoneyHistory['names']): string {
  if (by === 'kind') return kindNames[id] ?? id
  return by === 'model' ? id || 'Unknown GPU' : spenderName(id, names[id])
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
  if (span === 'today') return isoDay(date)
  if (span === 'month') return isoDay(new Date(date.getFullYear(), date.getMonth(), date.getDate() - 29))
  return isoDay(new Date(date.getFullYear(), date.getMonth() - 11))
}

function spenderName(id: string, name: SpenderName | undefined): string {
  return instanceName({ id, label: name?.label, gpu: { name: name?.gpu } })
}
