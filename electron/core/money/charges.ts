import * as v from 'valibot'
import type { BillingRow } from '#service/charges.ts'
import { isAbsent } from '#service/service-error.ts'
import type { ChargedKinds, MoneyDay, SpenderName } from '#shared/spending/history.ts'
import { type Micros, micros } from '#shared/spending/money.ts'
import type { AccountContext } from '../account-context.ts'
import { openDocument } from '../storage/json-file.ts'
import { emptyDay, localDay, midnight, nextMidnight } from './days.ts'

export type ChargeHistory = Awaited<ReturnType<typeof openCharges>>

const amount = v.optional(v.number())
const ChargedDay = v.object({
  day: v.string(),
  spent: v.number(),
  instances: v.record(v.string(), v.object({ gpu: amount, disk: amount, traffic: amount, other: amount })),
  /** It was read late enough that no more charges are added. */
  final: v.optional(v.literal(true)),
})
type ChargedDay = v.InferOutput<typeof ChargedDay>

const Stored = v.object({
  /** When the service was asked last, epoch seconds. */
  askedAt: v.optional(v.number()),
  /** Until when the list is not asked for, since the service had none. */
  chargesAbsentUntil: v.optional(v.number()),
  invoicesAbsentUntil: v.optional(v.number()),
  /** Up to when invoices were read; undefined while they are being read. */
  invoicesUntil: v.optional(v.number()),
  days: v.array(ChargedDay),
  /** By day. */
  topUps: v.record(v.string(), v.number()),
  /** Days on which credit also changed in other ways; Berth's own counting is better for them. */
  unsureDays: v.optional(v.array(v.string())),
})
type Stored = v.InferOutput<typeof Stored>

/** Seconds between two requests, and after the end of a day until its charges are final. */
const askedEvery = 3600
const finalAfter = 3600
/** Seconds after midnight before a day is read: the service has to close it first. */
const afterMidnight = 300
/** Days that are read, and that are stored. */
const daysBack = 7
const retentionDays = 400

/** A day of this machine's calendar, in epoch seconds. */
interface DayRange {
  day: string
  from: number
  to: number
}

/** The service's own record of past days' charges and of top-ups, which replaces Berth's estimates. */
export async function openCharges(
  context: Pick<AccountContext, 'platform' | 'files' | 'folder' | 'onBroken' | 'client' | 'quitting' | 'now'>,
) {
  const { quitting } = context
  const document = await openDocument(context, 'charges', Stored, { days: [], topUps: {} })
  let asking: Promise<void> | undefined

  function keep(change: (stored: Stored) => Stored): void {
    if (!quitting.aborted) document.writeSoon(change)
  }

  /** The list, or until when it need not be requested again. */
  async function listOrAbsence<T>(ask: () => Promise<T>): Promise<{ answer?: T; absentUntil?: number }> {
    try {
      return { answer: await ask() }
    } catch (error) {
      return { absentUntil: absentUntil(error, context.now()) }
    }
  }

  async function askAll(at: number): Promise<void> {
    keep(stored => ({ ...stored, askedAt: at, invoicesUntil: undefined }))
    const options = { signal: quitting, retries: 1 }
    const { client } = context
    const due = daysDue(document.get(), at)
    if ((document.get().chargesAbsentUntil ?? 0) <= at)
      for (const range of due) {
        const { answer, absentUntil } = await listOrAbsence(() =>
          // The service may count by days of UTC.
          client().charges.list(utcDayBefore(range.from), utcDayAfter(range.to), options),
        )
        if (absentUntil !== undefined) keep(stored => ({ ...stored, chargesAbsentUntil: absentUntil }))
        // A partial day of charges is no better than Berth's own counting.
        if (!answer?.whole) break
        const isFinal = at >= range.to + finalAfter
        const day = { ...chargedDay(range, answer.rows), ...(isFinal ? { final: true as const } : {}) }
        keep(stored => ({ ...stored, days: withDay(stored.days, day) }))
      }
    if ((document.get().invoicesAbsentUntil ?? 0) > at) return
    const from = due.at(-1)?.from ?? midnight(at)
    const { answer, absentUntil } = await listOrAbsence(() =>
      client().charges.invoices(from, Math.ceil(at), options),
    )
    if (absentUntil !== undefined) keep(stored => ({ ...stored, invoicesAbsentUntil: absentUntil }))
    if (!answer) return
    const { topUps, unsure } = topUpsOf(answer.rows)
    keep(stored => ({
      ...stored,
      ...(answer.whole && { invoicesUntil: at }),
      topUps: { ...stored.topUps, ...topUps },
      unsureDays: [...new Set([...(stored.unsureDays ?? []), ...unsure])].sort().slice(-retentionDays),
    }))
  }

  return {
    /** The days as the service charged them, where it has a record; else as counted. */
    asCharged: (
      days: readonly MoneyDay[],
      names: Readonly<Record<string, SpenderName>>,
    ): readonly MoneyDay[] => asCharged(days, document.get(), names),
    /**
     * Call after a poll: requests the lists when they are due, or when a top-up could only be estimated. Never rejects;
     * resolves once no request is pending.
     */
    async onPoll(at: number, estimated?: boolean): Promise<void> {
      if (asking === undefined && (estimated || isDue(document.get(), at)) && !quitting.aborted)
        asking = askAll(at).finally(() => {
          asking = undefined
        })
      await asking
    },
    /** The key was replaced: the new one may be allowed to read lists that the last one could not. */
    keyChanged: (): void =>
      keep(({ askedAt: _, chargesAbsentUntil: __, invoicesAbsentUntil: ___, ...stored }) => stored),
    flush: document.flush,
  }
}

/** Whether it is time to ask: some day is not final, and the last request is an hour old or from before midnight. */
function isDue(stored: Stored, at: number): boolean {
  const { askedAt, chargesAbsentUntil = 0, invoicesAbsentUntil = 0 } = stored
  if (chargesAbsentUntil > at && invoicesAbsentUntil > at) return false
  const midnightPassed = askedAt !== undefined && at >= nextMidnight(askedAt) + afterMidnight
  const isTime = askedAt === undefined || Math.abs(at - askedAt) >= askedEvery || midnightPassed
  return isTime && daysDue(stored, at).length > 0
}

/** Past days that are not final, the latest first. */
export function daysDue({ days }: Pick<Stored, 'days'>, at: number): DayRange[] {
  const final = new Set(days.flatMap(({ day, final }) => (final ? [day] : [])))
  const ranges: DayRange[] = []
  for (let back = 1; back <= daysBack; back += 1) {
    const from = midnight(at, -back)
    ranges.push({ day: localDay(from), from, to: nextMidnight(from) })
  }
  return ranges.filter(({ day }) => !final.has(day))
}

function utcDayBefore(at: number): number {
  return Math.floor(at / 86_400) * 86_400
}

function utcDayAfter(at: number): number {
  return Math.ceil(at / 86_400) * 86_400
}

const kinds: Readonly<Record<string, keyof ChargedKinds>> = {
  gpu: 'gpu',
  disk: 'disk',
  bwu: 'traffic',
  bwd: 'traffic',
}

/** The charges of a day, by instance and kind; a row that reaches beyond the day counts by its share of time. */
export function chargedDay(range: DayRange, rows: readonly BillingRow[]): ChargedDay {
  const instances: Record<string, ChargedKinds> = {}
  let spent = 0
  for (const row of rows) {
    const id = /^instance-(\d{1,15})$/.exec(row.source ?? '')?.[1]
    const parts = row.items && row.items.length > 0 ? row.items : [row]
    for (const part of parts) {
      const dollars = part.amount ?? 0
      const whole = Number.isFinite(dollars) ? micros(dollars) : 0
      const stretch = [part.start ?? row.start, part.end ?? row.end] as const
      const sum = Math.round(whole * shareWithin(range, ...stretch))
      if (sum === 0) continue
      spent += sum
      if (id === undefined) continue
      const kind = kinds[part.type ?? ''] ?? 'other'
      instances[id] = { ...instances[id], [kind]: (instances[id]?.[kind] ?? 0) + sum }
    }
  }
  return { day: range.day, spent, instances }
}

function shareWithin(
  { from, to }: DayRange,
  start: number | undefined,
  end: number | undefined = start,
): number {
  // A row without a time belongs to the day that was asked for.
  if (start === undefined || end === undefined) return 1
  if (end <= start) return start >= from && start < to ? 1 : 0
  return Math.max(0, Math.min(end, to) - Math.max(start, from)) / (end - start)
}

/**
 * Payments by day, less reversals; payments are negative in the answer. `unsure`: days on which credit was also
 * transferred, refunded or paid out, whose signs deployments write in different ways. `reserved` amounts stay on the
 * account.
 */
export function topUpsOf(rows: readonly BillingRow[]): {
  topUps: Record<string, Micros>
  unsure: ReadonlySet<string>
} {
  const topUps: Record<string, Micros> = {}
  const unsure = new Set<string>()
  for (const { type, amount: dollars = 0, start } of rows) {
    if (start === undefined || dollars === 0 || !Number.isFinite(dollars)) continue
    const day = localDay(start)
    if (type === 'credit') topUps[day] = (topUps[day] ?? 0) - micros(dollars)
    else if (type !== undefined && movesCredit.has(type)) unsure.add(day)
  }
  for (const day in topUps) topUps[day] = Math.max(0, topUps[day] ?? 0)
  return { topUps, unsure }
}

const movesCredit: ReadonlySet<string> = new Set(['transfer', 'refund', 'payout'])

function withDay(days: readonly ChargedDay[], day: ChargedDay): ChargedDay[] {
  const others = days.filter(other => other.day !== day.day)
  return [...others, day].sort((a, b) => (a.day < b.day ? -1 : 1)).slice(-retentionDays)
}

/**
 * The days with the service's charges. A day without any stays as counted: its list may be late, or this key may not
 * see all of it. An estimated top-up is replaced by the invoices.
 */
export function asCharged(
  days: readonly MoneyDay[],
  {
    days: charged,
    topUps,
    askedAt,
    invoicesUntil,
    unsureDays = [],
  }: Pick<Stored, 'days' | 'topUps' | 'askedAt' | 'invoicesUntil' | 'unsureDays'>,
  names: Readonly<Record<string, SpenderName>>,
): readonly MoneyDay[] {
  const chargedDays = new Map(charged.filter(({ spent }) => spent > 0).map(day => [day.day, day]))
  const counted = new Map(days.map(day => [day.day, day]))
  const all = [...new Set([...counted.keys(), ...chargedDays.keys()])].sort()
  const today = askedAt === undefined ? '' : localDay(askedAt)
  return all.map(day => {
    const before = counted.get(day) ?? emptyDay(day)
    const isInvoiced = before.estimated && invoicesUntil !== undefined && day === localDay(invoicesUntil)
    const isUnsure = unsureDays.includes(day) && counted.has(day)
    const invoiced = day < today ? topUps[day] : isInvoiced ? (topUps[day] ?? 0) : undefined
    const paid = isUnsure ? undefined : invoiced
    const { estimated, ...exact } = paid === undefined ? before : { ...before, toppedUp: paid }
    const bill = chargedDays.get(day)
    if (!bill) return paid === undefined && estimated ? before : exact
    const instances: Record<string, Micros> = {}
    const models: Record<string, Micros> = {}
    for (const [id, parts] of Object.entries(bill.instances)) {
      const sum = Object.values(parts).reduce((total: number, part) => total + (part ?? 0), 0)
      const model = names[id]?.gpu ?? ''
      instances[id] = sum
      models[model] = (models[model] ?? 0) + sum
    }
    return { ...exact, spent: bill.spent, instances, models, charged: bill.instances }
  })
}

/** Seconds before Berth requests a list again that the service did not have. */
const absentFor = 86_400

/** Until when (epoch seconds) a refused list is not asked for again; undefined if the service may have it. */
export function absentUntil(error: unknown, now: number): number | undefined {
  return isAbsent(error) ? now + absentFor : undefined
}
