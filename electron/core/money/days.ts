import * as v from 'valibot'
import { isoDay } from '#shared/format/time.ts'
import type { InstanceUse, MoneyDay, SpenderName } from '#shared/spending/history.ts'
import type { Micros } from '#shared/spending/money.ts'

const amounts = v.record(v.string(), v.number())

export const StoredDay: v.GenericSchema<MoneyDay> = v.object({
  day: v.pipe(v.string(), v.regex(/^\d{4}-\d{2}-\d{2}$/)),
  spent: v.number(),
  toppedUp: v.number(),
  estimated: v.optional(v.literal(true)),
  credit: v.optional(v.number()),
  models: amounts,
  instances: amounts,
  uses: v.optional(
    v.record(
      v.string(),
      v.object({
        gpu: v.optional(v.number()),
        disk: v.optional(v.number()),
        traffic: v.optional(v.number()),
        ran: v.optional(v.number()),
      }),
    ),
  ),
})

export function emptyDay(day: string): MoneyDay {
  return { day, spent: 0, toppedUp: 0, models: {}, instances: {} }
}

/** The day with what was counted before an instance's GPU was known added to that GPU's share. */
export function withModels(day: MoneyDay, names: Readonly<Record<string, SpenderName>>): MoneyDay {
  const { '': unknown = 0, ...known } = day.models
  if (unknown === 0) return day
  const models: Record<string, Micros> = known
  const shares: Record<string, Micros> = {}
  for (const [id, amount] of Object.entries(day.instances)) {
    const model = names[id]?.gpu
    if (model) shares[model] = (shares[model] ?? 0) + amount
  }
  let left = unknown
  for (const [model, share] of Object.entries(shares)) {
    const part = Math.min(left, Math.max(0, share - (models[model] ?? 0)))
    if (part > 0) models[model] = (models[model] ?? 0) + part
    left -= part
  }
  return { ...day, models: left > 0 ? { ...models, '': left } : models }
}

/** The spending of a time span, to be divided among its days. Epoch seconds. */
export interface Stretch {
  from: number
  to: number
  spent: Micros
  toppedUp: Micros
  /** Whether `spent` and `toppedUp` are only the likeliest amounts. */
  estimated?: boolean
  shares: ReadonlyMap<string, Micros>
  uses: ReadonlyMap<string, InstanceUse>
  credit?: Micros
  /** The GPU model of an instance. */
  model(instance: string): string
}

/**
 * The days that a span touches, `today` first; all but the last have ended. Amounts are divided by time and add up
 * exactly. `known` gives an earlier count of a day, which continues if the calendar went back.
 */
export function withStretch(
  today: MoneyDay,
  stretch: Stretch,
  dayOf: (day: string) => MoneyDay | undefined = () => undefined,
): MoneyDay[] {
  const parts = dayParts(stretch.from, stretch.to)
  return parts.map(({ day, until }, index) => {
    const since = parts[index - 1]?.until ?? 0
    const part = (amount: Micros) => Math.floor(amount * until) - Math.floor(amount * since)
    const last = index === parts.length - 1
    // A whole day in between is counted from zero: after a kill it may be on disk already.
    const begun = index === 0 || last ? dayOf(day) : undefined
    const base = index === 0 && day === today.day ? today : (begun ?? emptyDay(day))
    const models = { ...base.models }
    const instances = { ...base.instances }
    const uses = { ...base.uses }
    for (const [id, share] of stretch.shares) {
      const amount = part(share)
      if (amount === 0) continue
      instances[id] = (instances[id] ?? 0) + amount
      uses[id] = withUse(uses[id], amount, stretch.uses.get(id), part)
      const model = stretch.model(id)
      models[model] = (models[model] ?? 0) + amount
    }
    const credit = last ? (stretch.credit ?? base.credit) : base.credit
    return {
      day,
      spent: base.spent + part(stretch.spent),
      toppedUp: base.toppedUp + (last ? stretch.toppedUp : 0),
      estimated: base.estimated || stretch.estimated ? (true as const) : undefined,
      models,
      instances,
      uses,
      credit,
    }
  })
}

/** Adds a day's `amount` of a use to what was counted; `part` gives this day's part of a figure of the whole span. */
function withUse(
  before: InstanceUse = {},
  amount: Micros,
  use: InstanceUse = {},
  part: (whole: number) => number,
): InstanceUse {
  const [disk, traffic] = [part(use.disk ?? 0), part(use.traffic ?? 0)]
  return {
    gpu: (before.gpu ?? 0) + Math.max(0, amount - disk - traffic),
    disk: (before.disk ?? 0) + disk,
    traffic: (before.traffic ?? 0) + traffic,
    ran: (before.ran ?? 0) + part(use.ran ?? 0),
  }
}

/** A day with what was counted for another one, as by a clock that was wrong. */
export function withOther(day: MoneyDay, other: MoneyDay): MoneyDay {
  return {
    ...day,
    spent: day.spent + other.spent,
    toppedUp: day.toppedUp + other.toppedUp,
    estimated: day.estimated || other.estimated,
    models: withAmounts(day.models, other.models),
    instances: withAmounts(day.instances, other.instances),
    uses: usesOfBoth(day.uses, other.uses),
  }
}

function usesOfBoth(some: MoneyDay['uses'] = {}, others: MoneyDay['uses'] = {}): MoneyDay['uses'] {
  const added = Object.entries(others).map(([id, use]) => [id, withAmounts({ ...some[id] }, { ...use })])
  return { ...some, ...Object.fromEntries(added) }
}

function withAmounts(
  amounts: Readonly<Record<string, number>>,
  others: Readonly<Record<string, number>>,
): Record<string, number> {
  const added = Object.entries(others).map(([key, amount]) => [key, (amounts[key] ?? 0) + amount])
  return { ...amounts, ...Object.fromEntries(added) }
}

/** The most instances stored of a day that is over: the costliest. */
const mostInstances = 40
/** Days whose instances are stored. */
const daysWithInstances = 400

/** The past days with further ones added, in order; days that are already there are replaced. */
export function withDaysOver(pastDays: readonly MoneyDay[], more: readonly MoneyDay[]): MoneyDay[] {
  const newer = new Set(more.map(({ day }) => day))
  const all = [...pastDays.filter(({ day }) => !newer.has(day)), ...more].sort((a, b) =>
    a.day < b.day ? -1 : 1,
  )
  const detailed = all.length - daysWithInstances
  return all.map((day, index) => {
    const instances = index < detailed ? {} : costliest(day.instances)
    const uses = Object.fromEntries(Object.entries(day.uses ?? {}).filter(([id]) => id in instances))
    return { ...day, instances, ...(day.uses && { uses }) }
  })
}

function costliest(instances: MoneyDay['instances']): MoneyDay['instances'] {
  const entries = Object.entries(instances)
  if (entries.length <= mostInstances) return instances
  return Object.fromEntries(entries.sort(([, a], [, b]) => b - a).slice(0, mostInstances))
}

/** The day of a moment (epoch seconds) in this machine's calendar, such as `2026-11-21`. */
export function localDay(at: number): string {
  return isoDay(new Date(at * 1000))
}

/** The midnight before a moment, or the one `later` days after it; epoch seconds. */
export function midnight(at: number, later = 0): number {
  const date = new Date(at * 1000)
  return new Date(date.getFullYear(), date.getMonth(), date.getDate() + later).getTime() / 1000
}

/** The midnight after a moment, in epoch seconds; days of a clock change have 23 or 25 hours. */
export function nextMidnight(at: number): number {
  return midnight(at, 1)
}

/** A day within a span of time. */
interface DayPart {
  day: string
  /** How much of the span has passed at the end of this day, 0 to 1. */
  until: number
}

/** The days that a span of time touches, in order; `until` of the last is 1. */
export function dayParts(from: number, to: number): DayPart[] {
  const parts: DayPart[] = []
  let at = Math.min(from, to)
  for (let midnight = nextMidnight(at); midnight < to; midnight = nextMidnight(at)) {
    parts.push({ day: localDay(at), until: (midnight - from) / (to - from) })
    at = midnight
  }
  parts.push({ day: localDay(at), until: 1 })
  return parts
}
