import type { WatchRents } from '#shared/automation/watch.ts'
import { catalogueOf, type ListedOffer } from '#shared/market/catalogue.ts'
import type { OfferView } from '#shared/market/offer.ts'
import { Sorter } from '#shared/market/offer-order.ts'
import { micros } from '#shared/spending/money.ts'
import type { AlertedOffer, Watch } from './record.ts'

/** Whether the market should be searched now; `now` in epoch seconds of the account's time. */
export function isDue(watch: Moving, now: number): boolean {
  const next = nextSearch(watch)
  return next !== undefined && now >= next
}

type Moving = Pick<Watch, 'paused' | 'notesPrices' | 'request'> & { searchedAt?: number }

/** The time of the next search; undefined if there is none. Searches for prices alone are at least an hour apart. */
export function nextSearch({ paused, notesPrices, searchedAt, request }: Moving): number | undefined {
  if (paused && !notesPrices) return undefined
  const every = paused ? Math.max(request.every, 60) : request.every
  return searchedAt === undefined ? 0 : searchedAt + every * 60
}

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
