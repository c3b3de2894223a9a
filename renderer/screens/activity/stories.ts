import type { ActivityEntry } from '#shared/state.ts'

/** An entry with the earlier ones that led to it, the newest first: a rental and its steps, or an entry alone. */
export interface Story {
  /** The rental's id, or the entry's. */
  key: string
  entry: ActivityEntry
  earlier: readonly ActivityEntry[]
}

/** Milliseconds after a rental's last step in which its instance's being ready still belongs to it. */
const bootsWithin = 3 * 3_600_000

/**
 * Entries as stories, in the order given (newest first), each where its newest entry stands. The steps of a rental are
 * one story, including its instance's events until it was ready.
 */
export function stories(entries: readonly ActivityEntry[]): Story[] {
  const spans = rentalSpans(entries)
  const byKey = new Map<string, ActivityEntry[]>()
  for (const entry of entries) {
    const rental = entry.rental ?? spans.find(span => isWithin(entry, span))?.rental
    const key = rental ?? entry.id
    byKey.set(key, [...(byKey.get(key) ?? []), entry])
  }
  return [...byKey].flatMap(([key, [entry, ...earlier]]) => (entry ? [{ key, entry, earlier }] : []))
}

interface Span {
  rental: string
  account: string | undefined
  instances: ReadonlySet<number>
  /** Epoch milliseconds. */
  from: number
  to: number
}

function rentalSpans(entries: readonly ActivityEntry[]): Span[] {
  const byRental = new Map<string, ActivityEntry[]>()
  for (const entry of entries)
    if (entry.rental !== undefined) byRental.set(entry.rental, [...(byRental.get(entry.rental) ?? []), entry])
  return [...byRental].map(([rental, steps]) => {
    const instances = new Set(steps.flatMap(({ instance }) => instance ?? []))
    const from = Math.min(...steps.map(({ at }) => at))
    const last = Math.max(...steps.map(({ at }) => at))
    const ready = entries.findLast(
      ({ good, instance, at }) =>
        good && instance !== undefined && instances.has(instance) && at >= from && at <= last + bootsWithin,
    )
    return { rental, account: steps[0]?.account, instances, from, to: Math.max(last, ready?.at ?? last) }
  })
}

function isWithin({ account, instance, at }: ActivityEntry, span: Span): boolean {
  return (
    instance !== undefined &&
    span.instances.has(instance) &&
    span.account === account &&
    at >= span.from &&
    at <= span.to
  )
}
