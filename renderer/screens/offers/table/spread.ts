import type { ListedOffer } from '../../../../electron/contract/market/catalogue.ts'
import type { Micros } from '../../../../electron/contract/spending/money.ts'

/** How prices are spread: the middle half, and a picture of all of them. */
export interface PriceSpread {
  /** Micro-dollars per hour: a quarter of the offers is cheaper, a quarter dearer. */
  low: Micros
  high: Micros
  bars: readonly Bar[]
}

export interface Bar {
  /** Offers in it over the fullest bar's: 0 to 1. */
  height: number
  /** Whether its prices lie within the middle half. */
  middle: boolean
}

/** The spread of the offers' prices; undefined for fewer than four, of which nothing can be said. */
export function priceSpread(offers: readonly ListedOffer[], bars = 30): PriceSpread | undefined {
  const prices = Float64Array.from(offers.flatMap(({ price }) => (price === undefined ? [] : [price]))).sort()
  if (prices.length < 4) return undefined
  const low = quantile(prices, 0.25)
  const high = quantile(prices, 0.75)
  return { low: Math.round(low), high: Math.round(high), bars: histogram(prices, bars, low, high) }
}

/** The quantile of sorted numbers, between neighbours by their distance. */
export function quantile(sorted: Float64Array, share: number): number {
  const place = (sorted.length - 1) * share
  const below = sorted[Math.floor(place)] ?? Number.NaN
  const above = sorted[Math.ceil(place)] ?? Number.NaN
  return below + (above - below) * (place - Math.floor(place))
}

/**
 * Bars from the lowest price to the 95th percentile, each as much dearer than the one before (a GPU at $0.10 and
 * one at $10 are both seen); what is beyond is left out, or a few giants would press all others into one bar.
 */
function histogram(sorted: Float64Array, count: number, low: number, high: number): Bar[] {
  const scale = (price: number) => Math.log(Math.max(1, price))
  const least = scale(sorted[0] ?? 1)
  const most = Math.max(scale(quantile(sorted, 0.95)), least + 1e-6)
  const width = (most - least) / count
  const counts = new Uint32Array(count)
  for (const price of sorted) {
    if (scale(price) > most) break
    const bar = Math.min(count - 1, Math.floor((scale(price) - least) / width))
    counts[bar] = (counts[bar] ?? 0) + 1
  }
  const fullest = Math.max(1, ...counts)
  return Array.from(counts, (each, bar) => ({
    height: each / fullest,
    middle: least + (bar + 1) * width > scale(low) && least + bar * width <= scale(high),
  }))
}
