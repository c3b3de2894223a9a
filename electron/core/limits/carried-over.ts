import { lessSpent } from '#shared/automation/limit.ts'
import { money } from '#shared/format/money.ts'
import { type Micros, micros } from '#shared/spending/money.ts'
import { type StoredLimit, withEvent } from './model.ts'

/**
 * The limit for a replacement: the limit was set for the work, so the time and the money that went before count. `spent`:
 * by the instance that it replaces, in micro-dollars.
 */
export function takenOver(
  { when, action, asleep, most, warning, missed, snoozedUntil, setAt, instance }: StoredLimit,
  place: Pick<StoredLimit, 'id' | 'instance' | 'rental'>,
  spent: Micros,
  now: number,
): StoredLimit {
  const [left] = lessSpent([{ when, action, asleep, ...(most && { most }) }], spent)
  const limit = { ...place, when, action, asleep, ...left, warning, missed, snoozedUntil, setAt, history: [] }
  const before = when.kind === 'cost' ? `, which had cost ${money(spent)}` : ''
  return withEvent(limit, now, `Carried over from #${instance}${before}`)
}

/**
 * The limit of a restarted instance: the same duration as the ended one, or the same amount on top of the `spent`
 * micro-dollars.
 */
export function setAgain(
  { instance, when, action, asleep, warning, missed, spentBefore = 0 }: StoredLimit,
  id: string,
  spent: Micros,
  now: number,
): StoredLimit {
  const next =
    when.kind === 'cost'
      ? { ...when, dollars: (micros(when.dollars) + spent - spentBefore) / 1_000_000 }
      : when
  const before = when.kind === 'cost' ? { spentBefore: spent } : {}
  return { id, instance, when: next, action, asleep, warning, missed, setAt: now, ...before, history: [] }
}
