import type { Course } from '#shared/instance/metrics.ts'
import type { MoneySample } from '#shared/spending/history.ts'
import type { Micros } from '#shared/spending/money.ts'

/** The `d` of a line and of the area under it, one unit wide per value; y grows downwards. */
export interface Sparkline {
  line: string
  area: string
}

/** A course from 0 to `top` as a line `height` units high, interrupted where values are unknown. */
export function sparkline(course: Course, top: number, height: number): Sparkline {
  let line = ''
  let area = ''
  let begun: number | undefined
  for (const [x, value] of course.entries()) {
    if (value !== null) {
      const y = round(height * (1 - Math.min(1, Math.max(0, value / (top || 1)))))
      const step = `${begun === undefined ? 'M' : 'L'}${x} ${y}`
      line += step
      area += step
      begun ??= x
    }
    if (begun === undefined || (course[x + 1] ?? null) !== null) continue
    const end = value === null ? x - 1 : x
    // A single value is a dot, drawn by round line caps.
    if (end === begun) line += 'h0'
    area += `L${end} ${height}L${begun} ${height}Z`
    begun = undefined
  }
  return { line, area }
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}

/** The last, lowest and highest known value; undefined where none is known. */
export function extent(course: Course): { last: number; lowest: number; highest: number } | undefined {
  const values = course.filter(value => value !== null)
  const last = values.at(-1)
  return last === undefined ? undefined : { last, lowest: Math.min(...values), highest: Math.max(...values) }
}

/** Values that make a line; fewer are a speck at its end. */
const leastLine = 10

/** When a course of minutes that ends at `end` (epoch seconds) begins, where it is too short for a line. */
export function sinceWhen(course: Course, end: number): number | undefined {
  const first = course.findIndex(value => value !== null)
  const knownMinutes = course.length - first
  return first < 0 || knownMinutes >= leastLine ? undefined : end - (knownMinutes - 1) * 60
}

/** The time shown in seconds, and the number of values. */
export const lineSpan = 86_400
export const lineSteps = 48
/** The line needs that many values, six hours: a few of them would be specks. */
const leastKnown = 12

/**
 * The credit of the last 24 hours, one value per half hour, up to now; undefined where too little is known.
 * `now`: epoch seconds of the account's time.
 */
export function creditSparkline(
  samples: readonly MoneySample[],
  now: number,
  credit: Micros,
): Course | undefined {
  const step = lineSpan / lineSteps
  const line = new Array<number | null>(lineSteps).fill(null)
  for (const { at, credit: amount } of samples) {
    const place = lineSteps - 1 - Math.floor((now - at) / step)
    if (amount !== undefined && place >= 0 && place < lineSteps) line[place] = amount
  }
  line[lineSteps - 1] = credit
  const knownSteps = line.filter(value => value !== null).length
  return knownSteps < leastKnown ? undefined : line
}
