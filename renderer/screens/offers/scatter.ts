import { type Scale, scale } from '#renderer/components/charts/scale.ts'
import type { ListedOffer } from '#shared/market/catalogue.ts'
import type { Micros } from '#shared/spending/money.ts'

/** An offer by the hourly price and the score of one of its GPUs. */
export interface Dot {
  readonly listed: ListedOffer
  /** Micro-dollars per hour. */
  readonly price: Micros
  readonly score: number
  /** Pixels, from 3.4 to 7, by the number of GPUs. */
  readonly radius: number
  readonly reliability: 'high' | 'middle' | 'low'
}

/** A range of prices (micro-dollars per GPU and hour) and of scores of one GPU. */
export interface Region {
  readonly priceFrom: Micros
  readonly priceTo: Micros
  readonly scoreFrom: number
  readonly scoreTo: number
}

/** The score of one GPU; undefined where the service does not say. */
function scoreOf({ offer: { score, gpuCount = 1 } }: ListedOffer): number | undefined {
  return score === undefined ? undefined : score / gpuCount
}

/** Whether an offer is in a region. Without a price or a score it is in none. */
export function isWithin(listed: ListedOffer, region: Region): boolean {
  const { pricePerGpu: price } = listed
  const score = scoreOf(listed)
  if (price === undefined || score === undefined) return false
  return (
    price >= region.priceFrom &&
    price <= region.priceTo &&
    score >= region.scoreFrom &&
    score <= region.scoreTo
  )
}

/** The dots of the offers with a price and a score, large ones first, so that none hides a smaller one. */
export function dotsOf(offers: readonly ListedOffer[]): Dot[] {
  return offers
    .flatMap(listed => {
      const { pricePerGpu: price, offer } = listed
      const score = scoreOf(listed)
      if (price === undefined || score === undefined) return []
      const { gpuCount = 1, reliability = 0 } = offer
      const radius = Math.min(7, 1.4 + 2 * Math.sqrt(gpuCount))
      const level = reliability >= 0.995 ? 'high' : reliability >= 0.98 ? 'middle' : 'low'
      return [{ listed, price, score, radius, reliability: level } as const]
    })
    .sort((a, b) => b.radius - a.radius)
}

/** The chart's size in pixels, and its axes. */
export interface Frame {
  readonly width: number
  readonly height: number
  readonly prices: Scale
  readonly scores: Scale
}

/** Pixels around the plot, with room for the labels of its axes. */
export const margin = { left: 38, right: 26, top: 8, bottom: 22 }

/**
 * Axes that end on round figures, where a few values far above all others don't count. Prices are on a logarithmic one,
 * since what most people rent costs a hundredth of the dearest.
 */
export function frameOf(dots: readonly Dot[], width: number, height: number): Frame {
  const prices = rangeOf(Float64Array.from(dots, ({ price }) => price))
  const scores = rangeOf(Float64Array.from(dots, ({ score }) => score))
  return {
    width,
    height,
    prices: priceScale(prices.lowest, prices.highest),
    scores: scale(scores.lowest, scores.highest, 1),
  }
}

function rangeOf(values: Float64Array): { lowest: number; highest: number } {
  const sorted = values.sort()
  const highest = sorted.at(-1) ?? 1
  const usual = sorted[Math.floor((sorted.length - 1) * 0.99)] ?? highest
  return { lowest: sorted[0] ?? 0, highest: highest > 2 * usual ? usual : highest }
}

/** The least price that the axis tells apart: a tenth of a cent, in micro-dollars. */
const leastPrice = 1000

/** A logarithmic axis, whose ends are logarithms; its marks are prices that begin with 1, 2 or 5, at most ten of them. */
function priceScale(lowest: Micros, highest: Micros): Scale {
  const steps = [3, 4, 5, 6, 7, 8].flatMap(power => [1, 2, 5].map(digit => digit * 10 ** power))
  const first = steps.findLast(step => step <= lowest) ?? leastPrice
  const last = steps.find(step => step >= Math.max(highest, first * 2)) ?? highest
  const [bottom, top] = [Math.log10(first), Math.log10(last)]
  const within = steps.filter(step => step >= first && step <= last)
  const marks = (within.length > 10 ? within.filter(step => Number.isInteger(Math.log10(step))) : within).map(
    value => ({ at: (Math.log10(value) - bottom) / (top - bottom), value }),
  )
  return { bottom, top, marks }
}

export interface Point {
  readonly x: number
  readonly y: number
}

/** The place of a price and a score, in pixels from the chart's left and top. */
export function pointOf({ price, score }: Pick<Dot, 'price' | 'score'>, frame: Frame): Point {
  const { prices, scores, width, height } = frame
  const across = (Math.log10(Math.max(price, leastPrice)) - prices.bottom) / (prices.top - prices.bottom)
  const up = (score - scores.bottom) / (scores.top - scores.bottom)
  return {
    x: margin.left + across * (width - margin.left - margin.right),
    y: height - margin.bottom - up * (height - margin.top - margin.bottom),
  }
}

/** The price and the score at a place, within the axes. */
export function valuesAt({ x, y }: Point, frame: Frame): { price: Micros; score: number } {
  const { prices, scores, width, height } = frame
  const across = clamped((x - margin.left) / (width - margin.left - margin.right))
  const up = clamped((height - margin.bottom - y) / (height - margin.top - margin.bottom))
  return {
    price: Math.round(10 ** (prices.bottom + across * (prices.top - prices.bottom))),
    score: scores.bottom + up * (scores.top - scores.bottom),
  }
}

/** The region between two corners. */
export function regionBetween(a: Point, b: Point, frame: Frame): Region {
  const [one, other] = [valuesAt(a, frame), valuesAt(b, frame)]
  return {
    priceFrom: Math.min(one.price, other.price),
    priceTo: Math.max(one.price, other.price),
    scoreFrom: Math.min(one.score, other.score),
    scoreTo: Math.max(one.score, other.score),
  }
}

/** The dot nearest to a place, of equally near ones the smallest; undefined where none is within a few pixels. */
export function dotAt(dots: readonly Dot[], place: Point, frame: Frame): Dot | undefined {
  let hit: Dot | undefined
  let least = Number.POSITIVE_INFINITY
  for (const dot of dots) {
    const { x, y } = pointOf(dot, frame)
    const away = Math.hypot(x - place.x, y - place.y)
    if (away <= dot.radius + 4 && away <= least) {
      least = away
      hit = dot
    }
  }
  return hit
}

const directions: Readonly<Record<string, Point>> = {
  ArrowLeft: { x: -1, y: 0 },
  ArrowRight: { x: 1, y: 0 },
  ArrowUp: { x: 0, y: -1 },
  ArrowDown: { x: 0, y: 1 },
}

/** The direction of an arrow key; undefined for any other key. */
export function directionOf(key: string): Point | undefined {
  return directions[key]
}

/** The nearest dot in a direction, at most twice as far aside as ahead; `from` where there is none. */
export function nextDot(dots: readonly Dot[], from: Dot, way: Point, frame: Frame): Dot {
  const start = pointOf(from, frame)
  let next = from
  let least = Number.POSITIVE_INFINITY
  for (const dot of dots) {
    if (dot === from) continue
    const { x, y } = pointOf(dot, frame)
    const along = (x - start.x) * way.x + (y - start.y) * way.y
    const aside = Math.abs((x - start.x) * way.y) + Math.abs((y - start.y) * way.x)
    // Skips dots at the same place, where the keys would get stuck.
    if (along < 0.5 || aside > along * 2) continue
    const away = along + 2 * aside
    if (away < least) {
      least = away
      next = dot
    }
  }
  return next
}

/** A GPU's name above its dots. */
export interface Label extends Point {
  readonly text: string
}

/** The names of the GPUs with the most dots, centred above these, without overlaps. */
export function labelsOf(dots: readonly Dot[], frame: Frame, most = 10): Label[] {
  const byName = new Map<string, Dot[]>()
  for (const dot of dots) {
    const { gpuName } = dot.listed.offer
    if (gpuName === undefined) continue
    const series = byName.get(gpuName)
    if (series) series.push(dot)
    else byName.set(gpuName, [dot])
  }
  const labels: Label[] = []
  for (const [text, own] of [...byName].sort((a, b) => b[1].length - a[1].length)) {
    if (labels.length === most) break
    const places = own.map(dot => pointOf(dot, frame))
    const x = clampedTo(middle(places.map(each => each.x)), margin.left + 30, frame.width - 40)
    const y = Math.max(margin.top + 10, Math.min(...places.map(each => each.y)) - 10)
    const collides = labels.some(
      other =>
        Math.abs(other.y - y) < 14 && Math.abs(other.x - x) < 4 + 3.6 * (text.length + other.text.length),
    )
    if (!collides) labels.push({ text, x, y })
  }
  return labels
}

function middle(values: number[]): number {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}

function clamped(share: number): number {
  return clampedTo(share, 0, 1)
}

function clampedTo(value: number, least: number, most: number): number {
  return Math.max(least, Math.min(most, value))
}
