import { isoDay } from '../../contract/format/calendar.ts'

/** The day of this machine's calendar that a moment is in, `2026-11-21`. Epoch seconds. */
export function localDay(at: number): string {
  return isoDay(new Date(at * 1000))
}

/** The midnight with which the day began that a moment is in, or so many days later. Epoch seconds. */
export function midnight(at: number, later = 0): number {
  const date = new Date(at * 1000)
  return new Date(date.getFullYear(), date.getMonth(), date.getDate() + later).getTime() / 1000
}

/** The midnight after a moment, epoch seconds: an hour early or late where clocks are changed. */
export function nextMidnight(at: number): number {
  return midnight(at, 1)
}

/** A part of an amount, and the day it belongs to. */
export interface DayPart {
  day: string
  /** 0 to 1, of the time up to the end of this part. */
  until: number
}

/** The days that a stretch of time touches, each with how much of the stretch has passed at its end; the last is 1. */
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
