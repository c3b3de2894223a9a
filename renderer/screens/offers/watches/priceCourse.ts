import type { PriceSample } from '../../../../electron/contract/automation/watch.ts'
import { rate } from '../../../../electron/contract/format/money.ts'
import { count } from '../../../../electron/contract/format/size.ts'
import { type Mark, moments, scale } from '../../../components/charts/scale.ts'
import { linesThrough, longestKnown, stretches } from '../../../components/charts/stretches.ts'

/** A picture of how prices went, in its own units; y grows downwards. */
export interface PriceCourse {
  /** The `d` of the middle half of the prices, an area. */
  band: string
  /** Of the median, and of the lowest price. */
  middle: string
  lowest: string
  points: readonly { x: number; sample: PriceSample }[]
  /** The highest of what is drawn and the lowest, micro-dollars per hour. */
  highest: number
  lowestOfAll: number
  /** Marks of micro-dollars per hour, and of epoch seconds. */
  prices: readonly Mark<number>[]
  times: readonly Mark<number>[]
}

/** Of prices, as they are written: a tenth of a cent. */
const tenth = 1000

/** Prices are noted once an hour at most. */
const hour = 3600

/** Undefined with fewer than two samples. The time in which nothing was searched stays empty. */
export function priceCourse(
  samples: readonly PriceSample[],
  box: { width: number; height: number },
): PriceCourse | undefined {
  const [first] = samples
  const last = samples.at(-1)
  if (!first || !last || last.at <= first.at) return undefined
  const highest = Math.max(...samples.map(({ high }) => high))
  const lowestOfAll = Math.min(...samples.map(({ lowest }) => lowest))
  const { bottom, top, marks } = scale(lowestOfAll, highest, tenth)
  const x = (at: number) => round(((at - first.at) / (last.at - first.at)) * box.width)
  const y = (price: number) => round(((top - price) / (top - bottom)) * box.height)
  const parts = stretches(samples, longestKnown(samples, hour))
  const places = (part: readonly PriceSample[], value: (sample: PriceSample) => number) =>
    part.map(sample => `${x(sample.at)} ${y(value(sample))}`)
  const line = (value: (sample: PriceSample) => number) =>
    parts.map(part => linesThrough(places(part, value))).join('')
  return {
    band: parts
      .map(part => [...places(part, ({ high }) => high), ...places(part, ({ low }) => low).reverse()])
      .map(around => `M${around.join('L')}Z`)
      .join(''),
    middle: line(({ middle }) => middle),
    lowest: line(({ lowest }) => lowest),
    points: samples.map(sample => ({ x: x(sample.at), sample })),
    highest,
    lowestOfAll,
    prices: marks,
    times: moments(first.at, last.at),
  }
}

/** What the offers of a watch cost at a search, and how many there were. */
export function priceWords({ lowest, low, middle, high, count: many }: PriceSample): string {
  if (many === 1) return `the one offer ${rate(lowest)}`
  const half = low === high ? `half at ${rate(low)}` : `half between ${rate(low)} and ${rate(high)}`
  return `lowest ${rate(lowest)}, median ${rate(middle)}, ${half}, ${count(many)} offers`
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
