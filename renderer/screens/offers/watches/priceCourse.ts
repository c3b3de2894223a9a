import type { PriceSample } from '../../../../electron/contract/automation/watch.ts'

/** A picture of how prices went, in its own units; y grows downwards. */
export interface PriceCourse {
  /** The `d` of the middle half of the prices, an area. */
  band: string
  /** Of the median, and of the lowest price. */
  middle: string
  lowest: string
  points: readonly { x: number; sample: PriceSample }[]
  /** Micro-dollars per hour at the top and at the bottom. */
  top: number
  bottom: number
}

/** Undefined with fewer than two samples. */
export function priceCourse(
  samples: readonly PriceSample[],
  box: { width: number; height: number },
): PriceCourse | undefined {
  const [first] = samples
  const last = samples.at(-1)
  if (!first || !last || last.at <= first.at) return undefined
  const top = Math.max(...samples.map(({ high }) => high))
  const bottom = Math.min(...samples.map(({ lowest }) => lowest))
  const range = top - bottom || 1
  const x = (at: number) => round(((at - first.at) / (last.at - first.at)) * box.width)
  const y = (price: number) => round(((top - price) / range) * box.height)
  const line = (value: (sample: PriceSample) => number, from: readonly PriceSample[]) =>
    from.map(sample => `${x(sample.at)} ${y(value(sample))}`).join('L')
  const back = line(({ low }) => low, [...samples].reverse())
  return {
    band: `M${line(({ high }) => high, samples)}L${back}Z`,
    middle: `M${line(({ middle }) => middle, samples)}`,
    lowest: `M${line(({ lowest }) => lowest, samples)}`,
    points: samples.map(sample => ({ x: x(sample.at), sample })),
    top,
    bottom,
  }
}

/** The sample nearest to a place across the picture. */
export function sampleNear({ points }: PriceCourse, x: number): PriceSample | undefined {
  const away = (point: { x: number }) => Math.abs(point.x - x)
  return points.reduce<PriceCourse['points'][number] | undefined>(
    (best, point) => (best && away(best) <= away(point) ? best : point),
    undefined,
  )?.sample
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
