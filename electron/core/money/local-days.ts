import { isoDay } from '#contract/format/calendar.ts'

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
export interface DayPart {
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
