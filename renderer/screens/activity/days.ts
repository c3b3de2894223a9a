import { dayTitle, isoDay } from '#contract/format/calendar.ts'
import type { ActivityEntry } from '#contract/state.ts'

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
    const date = new Date(entry.at)
    const key = isoDay(date)
    const last = days.at(-1)
    if (last?.key === key) last.entries.push(entry)
    else days.push({ key, title: dayTitle(date, new Date(now)), entries: [entry] })
  }
  return days
}
