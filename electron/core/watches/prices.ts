import * as v from 'valibot'
import type { PriceSample } from '#shared/automation/watch.ts'
import type { Micros } from '#shared/spending/money.ts'
import { type DocumentPlace, openDocument } from '../storage/json-file.ts'

/** `[at, count, lowest, low, middle, high]`, as tuples to save space. */
const StoredPrices = v.array(
  v.tuple([v.number(), v.number(), v.number(), v.number(), v.number(), v.number()]),
)
export type StoredPrice = v.InferOutput<typeof StoredPrices>[number]

/** Seconds: the first search of each hour is stored, for ninety days. */
const step = 3600
const retention = 90 * 86_400

/** Adds the prices of a search; returns `known` itself if the hour has a sample already or there are no offers. */
export function withPrices(
  known: readonly StoredPrice[],
  at: number,
  prices: readonly Micros[],
): readonly StoredPrice[] {
  const sorted = [...prices].sort((a, b) => a - b)
  const [lowest] = sorted
  const hour = Math.floor(at / step)
  const hourOf = ([then]: StoredPrice) => Math.floor(then / step)
  if (lowest === undefined || known.some(price => hourOf(price) === hour)) return known
  // After time went back, samples from the future are dropped.
  const earlier = known.filter(price => price[0] > at - retention && hourOf(price) < hour)
  const quartile = (share: number) => Math.round(quantile(sorted, share))
  return [...earlier, [Math.round(at), sorted.length, lowest, quartile(0.25), quartile(0.5), quartile(0.75)]]
}

export function priceSamples(prices: readonly StoredPrice[]): PriceSample[] {
  return prices.map(([at, count, lowest, low, middle, high]) => ({ at, count, lowest, low, middle, high }))
}

/** Interpolates linearly between neighbours. */
function quantile(sorted: readonly number[], share: number): number {
  const place = (sorted.length - 1) * share
  const below = sorted[Math.floor(place)] ?? 0
  const above = sorted[Math.ceil(place)] ?? below
  return below + (above - below) * (place - Math.floor(place))
}

export type WatchPrices = Awaited<ReturnType<typeof openWatchPrices>>

/** The price history of each watch of an account. */
export async function openWatchPrices(context: DocumentPlace) {
  const document = await openDocument(context, 'watch-prices', v.record(v.string(), StoredPrices), {})
  const storedPrices = (watch: string) => document.get()[watch] ?? []
  return {
    of: (watch: string): PriceSample[] => priceSamples(storedPrices(watch)),
    /** Adds a search's prices in micro-dollars per hour; `at` in epoch seconds of the account's time. */
    note(watch: string, at: number, prices: readonly Micros[]): void {
      const after = withPrices(storedPrices(watch), at, prices)
      if (after !== storedPrices(watch)) document.writeSoon(stored => ({ ...stored, [watch]: [...after] }))
    },
    forget: (watch: string): void => document.writeSoon(({ [watch]: _, ...others }) => others),
    flush: document.flush,
  }
}
