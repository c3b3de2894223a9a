import { dayTitle, isoDay } from '#contract/format/calendar.ts'
import type { Story } from './stories.ts'

export interface Day {
  /** `2026-11-21`, local. */
  key: string
  title: string
  stories: Story[]
}

/**
 * Stories by the local day of their newest entry, in the order given (newest first).
 * @param now epoch milliseconds, for *Today* and *Yesterday*
 */
export function byDay(stories: readonly Story[], now: number): Day[] {
  const days: Day[] = []
  for (const story of stories) {
    const date = new Date(story.entry.at)
    const key = isoDay(date)
    const last = days.at(-1)
    if (last?.key === key) last.stories.push(story)
    else days.push({ key, title: dayTitle(date, new Date(now)), stories: [story] })
  }
  return days
}
