/** A mark on an axis: `at` from 0 at the beginning to 1 at the end. */
export interface ScaleMark<Value> {
  at: number
  value: Value
}

/** A value axis that begins and ends on a mark, so that every mark has a round value. */
export interface Scale {
  bottom: number
  top: number
  /** From the bottom up. */
  marks: readonly ScaleMark<number>[]
}

/**
 * An axis that covers `lowest` to `highest`, with at most six marks, whose step begins with 1, 2 or 5.
 * @param least the smallest step whose marks still differ as text
 */
export function scale(lowest: number, highest: number, least: number): Scale {
  const most = 4
  const range = Math.max(highest - lowest, least)
  const power = 10 ** Math.floor(Math.log10(range / most))
  const step = Math.max(
    least,
    [1, 2, 5, 10].map(each => each * power).find(each => range / each <= most) ?? power,
  )
  const bottom = Math.floor(lowest / step) * step
  // Turns -0 into 0.
  const top = Math.max(Math.ceil(highest / step) * step, bottom + step) || 0
  const count = Math.round((top - bottom) / step)
  const marks = Array.from({ length: count + 1 }, (_, at) => ({ at: at / count, value: bottom + at * step }))
  return { bottom, top, marks }
}

/** Pixels of a character of a label, and between two labels. */
const character = 6.2
const apart = 8

/**
 * The labels that fit on an axis of that width (pixels) without touching, the last of them kept: it is the present.
 * Those at the ends are drawn inwards, all others around their marks.
 */
export function labelsThatFit(marks: readonly ScaleMark<string>[], width: number): ScaleMark<string>[] {
  const kept: ScaleMark<string>[] = []
  let free = Number.POSITIVE_INFINITY
  for (const mark of marks.toReversed()) {
    const long = mark.value.length * character
    const left = Math.min(width - long, Math.max(0, mark.at * width - long / 2))
    if (left + long > free) continue
    kept.push(mark)
    free = left - apart
  }
  return kept.reverse()
}

const minute = 60
const hour = 3600
const day = 86_400
const steps = [
  ...[1, 2, 5, 10, 15, 30].map(count => count * minute),
  ...[1, 2, 3, 6, 12].map(count => count * hour),
  ...[1, 2, 7, 14, 30, 90].map(count => count * day),
]

/** Round local times (full hours, midnights) between `from` and `to` (epoch seconds), at most six. */
export function moments(from: number, to: number): ScaleMark<number>[] {
  const step = steps.find(each => (to - from) / each <= 5) ?? 365 * day
  const marks: ScaleMark<number>[] = []
  for (let value = firstAfter(from, step); value <= to; value = next(value, step))
    marks.push({ at: (value - from) / (to - from), value })
  return marks
}

/** Days follow the calendar: with a clock change they do not have 24 hours. */
function next(moment: number, step: number): number {
  if (step < day) return moment + step
  const date = new Date(moment * 1000)
  date.setDate(date.getDate() + step / day)
  return date.getTime() / 1000
}

function firstAfter(from: number, step: number): number {
  const midnight = new Date(from * 1000)
  midnight.setHours(0, 0, 0, 0)
  const start = midnight.getTime() / 1000
  if (step >= day) return start >= from ? start : next(start, day)
  return start + Math.ceil((from - start) / step) * step
}

/**
 * The longest gap between samples, in seconds, across which a line is drawn: three times the shortest distance between
 * two.
 * @param least the shortest distance that is assumed, in seconds
 */
export function longestKnown(samples: readonly { at: number }[], least: number): number {
  const steps = samples.slice(1).map(({ at }, before) => at - (samples[before]?.at ?? at))
  return 3 * Math.max(least, steps.length === 0 ? 0 : Math.min(...steps))
}

/** Splits samples wherever more than `longest` seconds lie between two, as no line is drawn across the gap. */
export function stretches<Seen extends { at: number }>(samples: readonly Seen[], longest: number): Seen[][] {
  const parts: Seen[][] = []
  for (const sample of samples) {
    const part = parts.at(-1)
    const before = part?.at(-1)
    if (part && before && sample.at - before.at <= longest) part.push(sample)
    else parts.push([sample])
  }
  return parts
}

/** The `d` of a line through points; a single one is a dot, drawn by round line caps. */
export function linesThrough(places: readonly string[]): string {
  return `M${(places.length === 1 ? [...places, ...places] : places).join('L')}`
}
