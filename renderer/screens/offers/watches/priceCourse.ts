import {
  linesThrough,
  longestKnown,
  moments,
  type ScaleMark,
  scale,
  stretches,
} from '#renderer/components/charts/scale.ts'
import type { PriceSample } from '#shared/automation/watch.ts'
import { rate } from '#shared/format/money.ts'
import { count } from '#shared/format/size.ts'

/** A chart of prices, in the units of its box; y grows downwards. */
export interface PriceCourse {
  /** The `d` of the area with the middle half of the prices. */
  band: string
  /** Of the median, and of the lowest price. */
  middle: string
  lowest: string
  points: readonly { x: number; sample: PriceSample }[]
  /** The highest and the lowest price drawn, micro-dollars per hour. */
  highest: number
  lowestOfAll: number
  /** Marks of micro-dollars per hour, and of epoch seconds. */
  prices: readonly ScaleMark<number>[]
  times: readonly ScaleMark<number>[]
}

/** A tenth of a cent in micro-dollars, the smallest step of the axis. */
const tenth = 1000

/** Prices are noted once an hour at most. */
const hour = 3600

/** Undefined with fewer than two samples. Times without searches stay empty. */
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

/** The prices and the number of offers at one search. */
export function priceWords({ lowest, low, middle, high, count: many }: PriceSample): string {
  if (many === 1) return `the one offer ${rate(lowest)}`
  const half = low === high ? `half at ${rate(low)}` : `half between ${rate(low)} and ${rate(high)}`
  return `lowest ${rate(lowest)}, median ${rate(middle)}, ${half}, ${count(many)} offers`
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
