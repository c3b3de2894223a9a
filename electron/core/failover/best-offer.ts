import { bidWithin } from '../../contract/automation/bid.ts'
import type { FailedHostView } from '../../contract/automation/failover.ts'
import { catalogueOf, type ListedOffer } from '../../contract/market/catalogue.ts'
import { failedLast } from '../../contract/market/failed-last.ts'
import { passing } from '../../contract/market/filter.ts'
import type { OfferView } from '../../contract/market/offer.ts'
import { Sorter } from '../../contract/market/sort.ts'
import { type Micros, micros } from '../../contract/spending/money.ts'
import type { Failover } from './failover.ts'

/** What a failover rents next. */
export interface Choice {
  offer: OfferView
  /** What it would cost: micro-dollars per hour. */
  price: Micros
  /** Dollars per hour; just above the lowest that runs there. */
  bid?: number
}

/**
 * The first offer in the order of the search that fits the wish and was not tried yet; machines that failed before
 * come after all others. Undefined when the market has none.
 */
export function bestOffer(
  { search, request, limits, tries }: Pick<Failover, 'search' | 'request' | 'limits' | 'tries'>,
  offers: readonly OfferView[],
  failed: Readonly<Record<string, FailedHostView>>,
): Choice | undefined {
  const machines = new Set(tries.map(({ offer }) => offer.machineId ?? `offer ${offer.id}`))
  const catalogue = catalogueOf(offers, search.query.type)
  const inOrder = failedLast(passing(new Sorter(catalogue).order(search.order), search.filter), failed)
  for (const { offer, price } of inOrder) {
    if (machines.has(offer.machineId ?? `offer ${offer.id}`)) continue
    if (offer.disk !== undefined && offer.disk < request.disk) continue
    if (request.bid !== undefined) {
      const bid = bidFor(offer, request.bid)
      if (bid !== undefined) return { offer, bid, price: micros(bid) }
    } else if (isWithin(price, limits.price)) return { offer, price: price ?? 0 }
  }
  return undefined
}

function bidFor({ minimumBid }: OfferView, most: number): number | undefined {
  if (minimumBid === undefined) return most
  const bid = bidWithin(minimumBid, micros(most))
  return bid === undefined ? undefined : bid / 1_000_000
}

/** What does not say its price is no bargain. */
function isWithin(price: ListedOffer['price'], most: number | undefined): boolean {
  return most === undefined || (price !== undefined && price <= micros(most))
}
