import type { WatchRents } from '#contract/automation/watch.ts'
import { catalogueOf, type ListedOffer } from '#contract/market/catalogue.ts'
import type { OfferView } from '#contract/market/offer.ts'
import { Sorter } from '#contract/market/offer-columns.ts'
import { micros } from '#contract/spending/money.ts'
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
  const known = new Map(heard.filter(({ at }) => at > since).map(alerted => [alerted.machine, alerted]))
  // Of a long list only the cheapest are known, so more expensive machines are not necessarily new.
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

/** Whether an offer has a price, and one within what the watch may pay. */
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
