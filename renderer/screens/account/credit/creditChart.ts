import type { Micros } from '../../../../electron/contract/spending/money.ts'

/** What the credit was at a moment of the account's time, in epoch seconds. */
export interface CreditSample {
  at: number
  credit: Micros
}

/** A picture of how the credit went, in its own units; y grows downwards. */
export interface CreditChart {
  /** The `d` of the line, and of the area under it down to nothing. */
  line: string
  area: string
  points: readonly { x: number; y: number; sample: CreditSample }[]
  /** Where $0 lies. */
  zero: number
  highest: number
  lowest: number
}

/** Samples from `from` to `to` (epoch seconds), drawn into a box; undefined with fewer than two of them. */
export function creditChart(
  samples: readonly CreditSample[],
  from: number,
  to: number,
  box: { width: number; height: number },
): CreditChart | undefined {
  const seen = samples.filter(({ at }) => at >= from && at <= to)
  const before = samples.findLast(({ at }) => at < from)
  if (before && seen.length > 0) seen.unshift({ at: from, credit: before.credit })
  const start = seen[0]?.at ?? to
  if (seen.length < 2 || to <= start) return undefined

  const values = seen.map(({ credit }) => credit)
  const highest = Math.max(...values)
  const lowest = Math.min(...values)
  const top = Math.max(highest, 0)
  const bottom = Math.min(lowest, 0)
  const range = top - bottom || 1
  const x = (at: number) => round(((at - start) / (to - start)) * box.width)
  const y = (credit: number) => round(((top - credit) / range) * box.height)
  const points = seen.map(sample => ({ x: x(sample.at), y: y(sample.credit), sample }))
  const line = points.map((point, at) => `${at === 0 ? 'M' : 'L'}${point.x} ${point.y}`).join('')
  const zero = y(0)
  const first = points[0]?.x ?? 0
  const last = points.at(-1)?.x ?? 0
  return { line, area: `${line}L${last} ${zero}L${first} ${zero}Z`, points, zero, highest, lowest }
}

/** The sample nearest to a place across the picture. */
export function nearest(chart: CreditChart, x: number): CreditChart['points'][number] | undefined {
  return chart.points.reduce<CreditChart['points'][number] | undefined>(
    (best, point) => (best && Math.abs(best.x - x) <= Math.abs(point.x - x) ? best : point),
    undefined,
  )
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
