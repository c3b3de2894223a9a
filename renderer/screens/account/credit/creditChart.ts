import {
  linesThrough,
  longestKnown,
  moments,
  type ScaleMark,
  scale,
  stretches,
} from '#renderer/components/charts/scale.ts'
import type { Micros } from '#shared/spending/money.ts'

/** The credit at a moment of the account's time, in epoch seconds. */
export interface CreditSample {
  at: number
  credit: Micros
}

/** A chart of the credit and its forecast, in the units of its box; y grows downwards. */
export interface CreditChart {
  /** The `d` of the line, and of the area between it and $0. */
  line: string
  area: string
  /** The `d` of the forecast if spending stays as it is; absent where nothing is spent or no credit is left. */
  forecast?: string
  /** The samples, and the end of the forecast. */
  points: readonly { x: number; sample: CreditSample; forecast?: true }[]
  /** The y of $0, and the x of now. */
  zero: number
  now: number
  /** Marks of micro-dollars, and of epoch seconds. */
  credits: readonly ScaleMark<Micros>[]
  times: readonly ScaleMark<number>[]
  highest: number
  lowest: number
}

/** The forecast's length, as a share of the time shown. */
const ahead = 1 / 3
/** A cent in micro-dollars, the smallest step of the axis. */
const cent = 10_000
/** Seconds from one sample to the next, at least. */
const fiveMinutes = 300

/**
 * Draws the samples from `from` to `to` (epoch seconds) into a box, with a forecast; undefined with fewer than two of
 * them. Times without samples stay empty.
 * @param samples the last of them is the present credit
 * @param perHour the spending from `to` on, if it stays as it is
 */
export function creditChart(
  samples: readonly CreditSample[],
  from: number,
  to: number,
  box: { width: number; height: number },
  perHour: Micros = 0,
): CreditChart | undefined {
  const visible = samples.filter(({ at }) => at >= from && at <= to)
  const before = samples.findLast(({ at }) => at < from)
  const longest = longestKnown(samples.slice(0, -1), fiveMinutes)
  if (before && visible[0] && visible[0].at - before.at <= longest)
    visible.unshift({ at: from, credit: before.credit })
  const [first] = visible
  const last = visible.at(-1)
  if (!first || !last || visible.length < 2 || to <= first.at) return undefined

  const start = first.at
  const course = perHour > 0 && last.credit > 0 ? goesOn(last, to, (to - start) * ahead, perHour) : undefined
  const end = course?.[1].at ?? to
  const values = visible.map(({ credit }) => credit)
  const [highest, lowest] = [Math.max(...values), Math.min(...values)]
  const { bottom, top, marks } = scale(Math.min(lowest, 0), Math.max(highest, 0), cent)
  const x = (at: number) => round(((at - start) / (end - start)) * box.width)
  const y = (credit: number) => round(((top - credit) / (top - bottom)) * box.height)
  const path = (of: readonly CreditSample[]) =>
    linesThrough(of.map(({ at, credit }) => `${x(at)} ${y(credit)}`))
  const zero = y(0)
  const parts = stretches(visible, longest)
  return {
    line: parts.map(path).join(''),
    area: parts
      .map(part => `${path(part)}L${x(part.at(-1)?.at ?? end)} ${zero}L${x(part[0]?.at ?? start)} ${zero}Z`)
      .join(''),
    forecast: course ? path(course) : undefined,
    points: [
      ...visible.map(sample => ({ x: x(sample.at), sample })),
      ...(course ? [{ x: x(end), sample: course[1], forecast: true as const }] : []),
    ],
    zero,
    now: x(to),
    credits: marks,
    times: moments(start, end),
    highest,
    lowest,
  }
}

/** The forecast over the next `seconds`, or until the credit is used up. */
function goesOn(
  last: CreditSample,
  now: number,
  seconds: number,
  perHour: Micros,
): [CreditSample, CreditSample] {
  const until = Math.min(seconds, (last.credit / perHour) * 3600)
  return [
    { at: now, credit: last.credit },
    { at: now + until, credit: last.credit - (perHour * until) / 3600 },
  ]
}

/** The credit at the end of each period and its change in it, the newest first. `step` in seconds. */
export function creditRows(
  points: CreditChart['points'],
  step: number,
): { at: number; credit: Micros; change: Micros | undefined }[] {
  const ends = new Map<number, CreditSample>()
  for (const { sample, forecast } of points) if (!forecast) ends.set(Math.ceil(sample.at / step), sample)
  const rows = [...ends.values()]
  return rows
    .map((row, index) => {
      const before = rows[index - 1]
      return { ...row, change: before && row.credit - before.credit }
    })
    .reverse()
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
