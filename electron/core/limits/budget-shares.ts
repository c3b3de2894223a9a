import type { LimitWhen } from '#shared/automation/limit.ts'
import { type Micros, micros } from '#shared/spending/money.ts'
import type { Facts } from './facts.ts'
import type { StoredLimit } from './model.ts'

/** The shares of a budget of which its user hears, in percent, each once in its day or month. */
const shares = [50, 80, 100]

export function spentIn(per: 'day' | 'month', { spentToday, spentThisMonth }: Facts): Micros {
  return per === 'day' ? spentToday : spentThisMonth
}

/** A budget of which a share is spent, with that noted; undefined where that was told, and for other limits. */
export function withShareTold(
  limit: StoredLimit,
  facts: Facts,
): { limit: StoredLimit; share: number; spent: Micros; when: LimitWhen & { kind: 'budget' } } | undefined {
  const { when, told } = limit
  if (when.kind !== 'budget') return undefined
  const from = when.per === 'day' ? facts.dayBegan : facts.monthBegan
  // What is spent was last counted before midnight.
  if (facts.countedAt < from) return undefined
  const spent = spentIn(when.per, facts)
  const share = shares.findLast(one => spent * 100 >= one * micros(when.dollars))
  if (share === undefined || (told?.from === from && told.share >= share)) return undefined
  return { limit: { ...limit, told: { from, share } }, share, spent, when }
}
