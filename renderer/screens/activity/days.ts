import type { ActivityEntry } from '../../../electron/contract/state.ts'

export interface Day {
  /** `2026-11-21`, local. */
  key: string
  title: string
  entries: ActivityEntry[]
}

/**
 * Entries by local day, in the order given (newest first).
 * @param now epoch milliseconds, for *Today* and *Yesterday*
 */
export function byDay(entries: readonly ActivityEntry[], now: number): Day[] {
  const days: Day[] = []
  for (const entry of entries) {
    const key = dayKey(entry.at)
    const last = days.at(-1)
    if (last?.key === key) last.entries.push(entry)
    else days.push({ key, title: dayTitle(entry.at, now), entries: [entry] })
  }
  return days
}

function dayKey(at: number): string {
  const date = new Date(at)
  return [date.getFullYear(), date.getMonth() + 1, date.getDate()]
    .map(part => String(part).padStart(2, '0'))
    .join('-')
}

function dayTitle(at: number, now: number): string {
  const key = dayKey(at)
  if (key === dayKey(now)) return 'Today'
  const yesterday = new Date(now)
  yesterday.setDate(yesterday.getDate() - 1)
  if (key === dayKey(yesterday.getTime())) return 'Yesterday'
  const sameYear = new Date(at).getFullYear() === new Date(now).getFullYear()
  return new Intl.DateTimeFormat('en-GB', {
    weekday: 'long',
    day: 'numeric',
    month: 'long',
    ...(sameYear ? {} : { year: 'numeric' }),
  })
    .format(at)
    .replace(',', '')
}
