import * as v from 'valibot'
import type { PriceSample, WatchRents } from '#contract/automation/watch.ts'
import { catalogueOf, type ListedOffer } from '#contract/market/catalogue.ts'
import type { OfferView } from '#contract/market/offer.ts'
import { Sorter } from '#contract/market/offer-columns.ts'
import { type Micros, micros } from '#contract/spending/money.ts'
import { type DocumentPlace, openDocument } from '../storage/json-file.ts'
import type { AlertedOffer, Watch } from './watch.ts'

/** The result of a watch's search of the market. */
export interface WatchResult {
  /** Offers that the search finds, regardless of the watch's price limit. */
  found: readonly ListedOffer[]
  /** Offers that match, cheapest first. */
  matching: readonly ListedOffer[]
  /** Offers that are new or clearly cheaper than before, cheapest first. None at the first search. */
  fresh: readonly ListedOffer[]
  /** The new record of known offers. */
  alerted: AlertedOffer[]
}

/** Seconds of absence after which a machine is news again. */
const forgottenAfter = 86_400
/** A machine is news again below this share of its known price. */
const clearlyCheaper = 0.95
/** Only so many of the cheapest matches can be news, as more expensive ones are no finds. */
const cheapest = 200
/** The number of machines remembered; the oldest are dropped. */
const most = 1000

/** The matching offers of a search, and the new ones among them. */
export function resultOf(watch: Watch, offers: readonly OfferView[], now: number): WatchResult {
  const { query, filter } = watch.request.search
  const cheapestFirst = { column: 'price', descending: false } as const
  const found = new Sorter(catalogueOf(offers, query.type))
    .order(cheapestFirst, filter)
    .filter(({ price }) => price !== undefined)
  const matching = found.filter(listed => isWithin(listed, watch.request.rents))
  const heard = watch.alerted ?? []
  // Counted back from the last search: without searches, a machine may have been there all the time.
  const since = (watch.searchedAt ?? now) - forgottenAfter
  const alertedByMachine = new Map(
    heard.filter(({ at }) => at > since).map(alerted => [alerted.machine, alerted]),
  )
  // Of a long list only the cheapest are known, so more expensive machines are not necessarily new.
  const beyond = heard.length < cheapest ? Infinity : Math.max(...heard.map(({ price }) => price))
  const fresh: ListedOffer[] = []
  for (const listed of matching.slice(0, cheapest)) {
    const machine = machineOf(listed.offer)
    const price = listed.price ?? 0
    const before = alertedByMachine.get(machine)
    const isNews = before === undefined ? price < beyond : price < before.price * clearlyCheaper
    if (isNews && watch.alerted) fresh.push(listed)
    alertedByMachine.set(machine, { machine, price: before && !isNews ? before.price : price, at: now })
  }
  const alerted = [...alertedByMachine.values()].sort((a, b) => a.at - b.at).slice(-most)
  return { found, matching, fresh, alerted }
}

/** Whether an offer has a price within the watch's limit. */
function isWithin({ price, offer }: ListedOffer, rents: WatchRents | undefined): boolean {
  if (price === undefined) return false
  const { bid } = rents?.request ?? {}
  if (bid !== undefined) return (offer.minimumBid ?? price) <= micros(bid)
  return rents?.limits.price === undefined || price <= micros(rents.limits.price)
}

/** A machine may be offered several times, with different numbers of its GPUs. */
function machineOf({ id, machineId, gpuCount }: OfferView): string {
  return machineId === undefined ? `offer ${id}` : `${machineId} × ${gpuCount ?? 1}`
}

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

/** The price history of each watch of an account. */
export interface WatchPrices {
  of(watch: string): PriceSample[]
  /** Adds a search's prices in micro-dollars per hour; `at` in epoch seconds of the account's time. */
  note(watch: string, at: number, prices: readonly Micros[]): void
  forget(watch: string): void
  flush(): Promise<void>
}

export async function openWatchPrices(context: DocumentPlace): Promise<WatchPrices> {
  const document = await openDocument(context, 'watch-prices', v.record(v.string(), StoredPrices), {})
  const storedPrices = (watch: string) => document.get()[watch] ?? []
  return {
    of: watch => priceSamples(storedPrices(watch)),
    note(watch, at, prices) {
      const after = withPrices(storedPrices(watch), at, prices)
      if (after !== storedPrices(watch)) document.writeSoon(stored => ({ ...stored, [watch]: [...after] }))
    },
    forget: watch => document.writeSoon(({ [watch]: _, ...others }) => others),
    flush: document.flush,
  }
}
