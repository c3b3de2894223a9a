import type { Course } from '#contract/instance/metrics.ts'

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
