import { money } from '../format/money.ts'
import { isoDay, timeOfDay } from '../format/time.ts'
import type { InstanceView } from '../instance/instance.ts'
import type { MoneyDay } from './history.ts'
import type { Micros } from './money.ts'

/** What an instance had cost from a moment on (epoch seconds) until Berth counted its account, estimated by its price. */
export function costBeforeCounting(
  { spent: { seenFrom, unseen = 0 }, startedAt }: Pick<InstanceView, 'spent' | 'startedAt'>,
  from: number,
): Micros {
  if (seenFrom === undefined || startedAt === undefined || startedAt >= seenFrom) return 0
  const part = (seenFrom - Math.max(from, startedAt)) / (seenFrom - startedAt)
  return Math.max(0, Math.round(unseen * part))
}

/** The instances and the present of an account, in epoch seconds of its time. */
export interface CountedAccount {
  instances: Readonly<Record<string, InstanceView>>
  now: number
}

/**
 * Since when the sums of an account's first day count, and what its instances had cost from `from` on (epoch seconds)
 * until then: `13:39, before ≈ $19.63`. Undefined on later days, whose sums name their first day, and if nothing was there.
 */
export function firstDaySince(
  days: readonly MoneyDay[],
  { instances, now }: CountedAccount,
  from: number,
): string | undefined {
  const midnight = new Date(now * 1000).setHours(0, 0, 0, 0) / 1000
  const today = isoDay(new Date(midnight * 1000))
  // A service's list of charges has past days from before Berth counted, too.
  if (days.some(({ day, charged }) => day < today && !charged)) return undefined
  const start = days.some(({ charged }) => charged) ? Math.max(from, midnight) : from
  const older = Object.values(instances).filter(one => costBeforeCounting(one, start) > 0)
  const counted = Math.min(...older.flatMap(({ spent: { seenFrom } }) => seenFrom ?? []))
  if (older.length === 0 || counted < midnight) return undefined
  const before = older.reduce((sum, one) => sum + costBeforeCounting(one, start), 0)
  return `${timeOfDay(counted)}, before ≈ ${money(before)}`
}
