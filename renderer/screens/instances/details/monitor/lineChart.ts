/** One measured value. */
export interface Sample {
  /** Epoch milliseconds. */
  at: number
  value: number
}

/** A picture of how a value went, in its own units; y grows downwards. */
export interface LineChart {
  /** The `d` of the line, and of the area under it. */
  line: string
  area: string
  points: readonly { x: number; y: number; sample: Sample }[]
}

/** Milliseconds without a sample after which the line is broken. */
const gap = 15_000

/** Samples from `from` to `to`, from 0 up to `top`, drawn into a box; undefined with fewer than two of them. */
export function lineChart(
  samples: readonly Sample[],
  from: number,
  to: number,
  top: number,
  box: { width: number; height: number },
): LineChart | undefined {
  const seen = samples.filter(({ at }) => at >= from && at <= to)
  if (seen.length < 2 || to <= from) return undefined
  const points = seen.map(sample => ({
    x: round(((sample.at - from) / (to - from)) * box.width),
    y: round((1 - Math.min(1, Math.max(0, sample.value / (top || 1)))) * box.height),
    sample,
  }))
  let line = ''
  let area = ''
  let begun = points[0]
  for (const [index, point] of points.entries()) {
    const before = points[index - 1]
    const broken = before === undefined || point.sample.at - before.sample.at > gap
    if (broken && before && begun) area += closed(begun.x, before.x)
    if (broken) begun = point
    const step = `${broken ? 'M' : 'L'}${point.x} ${point.y}`
    line += step
    area += step
  }
  const last = points.at(-1)
  if (begun && last) area += closed(begun.x, last.x)
  return { line, area, points }

  function closed(left: number, right: number): string {
    return `L${right} ${box.height}L${left} ${box.height}Z`
  }
}

/** The sample nearest to a place across the picture. */
export function nearest(chart: LineChart, x: number): LineChart['points'][number] | undefined {
  return chart.points.reduce<LineChart['points'][number] | undefined>(
    (best, point) => (best && Math.abs(best.x - x) <= Math.abs(point.x - x) ? best : point),
    undefined,
  )
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
