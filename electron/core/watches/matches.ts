import type { WatchRents } from '../../contract/automation/watch.ts'
import { catalogueOf, type ListedOffer } from '../../contract/market/catalogue.ts'
import type { OfferView } from '../../contract/market/offer.ts'
import { Sorter } from '../../contract/market/sort.ts'
import { micros } from '../../contract/spending/money.ts'
import type { AlertedOffer, Watch } from './model.ts'

/** What a search of the market showed a watch. */
export interface WatchResult {
  /** What the search itself finds, whatever the watch may pay. */
  found: readonly ListedOffer[]
  /** What matches, the cheapest first. */
  matching: readonly ListedOffer[]
  /** What was not there before, or at a clearly higher price; the cheapest first. Nothing at the first search. */
  fresh: readonly ListedOffer[]
  /** What is told after that. */
  alerted: AlertedOffer[]
}

/** A machine that comes back after so long is news again. Seconds. */
const forgottenAfter = 86_400
/** A machine is news again at this share of the price it was told at. */
const clearlyCheaper = 0.95
/** Of the offers that match, only so many of the cheapest can be news: what is dearer than those is no find. */
const cheapest = 200
/** Machines remembered; the oldest make room. */
const most = 1000

/** What of the market's answer matches, and what of that is news. */
export function resultOf(watch: Watch, offers: readonly OfferView[], now: number): WatchResult {
  const { query, filter } = watch.request.search
  const cheapestFirst = { column: 'price', descending: false } as const
  const found = new Sorter(catalogueOf(offers, query.type))
    .order(cheapestFirst, filter)
    .filter(({ price }) => price !== undefined)
  const matching = found.filter(listed => isWithin(listed, watch.request.rents))
  const heard = watch.alerted ?? []
  // Away for a day of searches: where nothing was searched, it may have been there all the time.
  const since = (watch.searchedAt ?? now) - forgottenAfter
  const known = new Map(heard.filter(({ at }) => at > since).map(alerted => [alerted.machine, alerted]))
  // Of a long list only the cheapest are known: what is dearer than those may have been there before.
  const beyond = heard.length < cheapest ? Infinity : Math.max(...heard.map(({ price }) => price))
  const fresh: ListedOffer[] = []
  for (const listed of matching.slice(0, cheapest)) {
    const machine = machineOf(listed.offer)
    const price = listed.price ?? 0
    const before = known.get(machine)
    const isNews = before === undefined ? price < beyond : price < before.price * clearlyCheaper
    if (isNews && watch.alerted) fresh.push(listed)
    known.set(machine, { machine, price: before && !isNews ? before.price : price, at: now })
  }
  const alerted = [...known.values()].sort((a, b) => a.at - b.at).slice(-most)
  return { found, matching, fresh, alerted }
}

/** What does not say its price is no find; what is dearer than the watch may rent does not match. */
function isWithin({ price, offer }: ListedOffer, rents: WatchRents | undefined): boolean {
  if (price === undefined) return false
  const { bid } = rents?.request ?? {}
  if (bid !== undefined) return (offer.minimumBid ?? price) <= micros(bid)
  return rents?.limits.price === undefined || price <= micros(rents.limits.price)
}

/** The same machine may offer one, two or more of its GPUs. */
function machineOf({ id, machineId, gpuCount }: OfferView): string {
  return machineId === undefined ? `offer ${id}` : `${machineId} × ${gpuCount ?? 1}`
}
