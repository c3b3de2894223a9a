import * as v from 'valibot'
import type { MoneySample } from '#shared/spending/history.ts'
import type { Micros } from '#shared/spending/money.ts'

/** `[end, spent, credit]`: epoch seconds of the account's time, micro-dollars. Tuples, since there are many of them. */
export const StoredSamples = v.array(v.tuple([v.number(), v.number(), v.nullable(v.number())]))
export type StoredSample = v.InferOutput<typeof StoredSamples>[number]

/** Seconds that a sample covers. */
export const sampleLength = 300
/** Seconds that samples are stored. */
const retention = 90 * 86_400

/**
 * Adds an amount to the sample of its five minutes, which is the last one or a new one. If time went back, samples now
 * in the future are added to it.
 */
export function withAmount(
  samples: readonly StoredSample[],
  at: number,
  spent: Micros,
  credit: Micros | undefined,
): StoredSample[] {
  const end = Math.ceil(at / sampleLength) * sampleLength
  const past = samples.filter(([then]) => then < end)
  const present = samples.slice(past.length)
  const before = present.reduce((sum, [, amount]) => sum + amount, 0)
  return [...past, [end, before + spent, credit ?? present.at(-1)?.[2] ?? null]]
}

/** The samples of the ninety days before the last one, so that a clock that leaps ahead for one poll loses nothing. */
export function withoutOld(samples: readonly StoredSample[]): StoredSample[] {
  const last = samples.at(-1)?.[0] ?? 0
  return samples.filter(([end]) => end > last - retention)
}

/** Samples that lie in an hour. */
export const samplesInHour = 3600 / sampleLength

/**
 * The spending per hour of the last hour with samples. A sample after a break covers the break too. A shorter time
 * counts as an hour, so that hourly charges count once.
 */
export function perHourLately(samples: readonly StoredSample[]): Micros {
  const last = samples.at(-1)?.[0] ?? 0
  // Time may have gone back.
  const past = samples.filter(([end]) => end <= last)
  const before = past.findLastIndex(([end]) => end <= last - 3600)
  const spent = past.slice(before + 1).reduce((sum, [, spent]) => sum + spent, 0)
  const seconds = Math.max(3600, last - (past[before]?.[0] ?? last))
  return Math.round((spent * 3600) / seconds)
}

/** Credits may be whole cents. */
const rounding = 20_000

/** Whether at least half as much left the account since then, in epoch seconds, or that is not known. */
export function wasCharged(samples: readonly StoredSample[], cost: Micros, since: number): boolean {
  const later = samples.filter(([end]) => end > since)
  const isKnown = later.length < samples.length || (later[0]?.[0] ?? since) <= since + sampleLength
  if (!isKnown || later.length === 0 || later.some(([, , credit]) => credit === null)) return true
  return later.reduce((sum, [, spent]) => sum + spent, rounding) >= cost / 2
}

/** At most `most` samples of equal length after `from`; those that fall into the same one are added up, exactly. */
export function thinnedSamples(samples: readonly StoredSample[], from: number, most: number): MoneySample[] {
  const recent = samples.filter(([end]) => end > from)
  const first = recent[0]?.[0]
  const last = recent.at(-1)?.[0]
  if (first === undefined || last === undefined) return []
  const length = Math.ceil((last - first + sampleLength) / most / sampleLength) * sampleLength
  const thin: MoneySample[] = []
  for (const [end, spent, credit] of recent) {
    const at = Math.ceil(end / length) * length
    const before = thin.at(-1)
    const sum = before?.at === at ? before.spent + spent : spent
    const knownCredit = credit ?? (before?.at === at ? before.credit : undefined)
    if (before?.at === at) thin.pop()
    thin.push({ at, spent: sum, credit: knownCredit })
  }
  return thin
}
