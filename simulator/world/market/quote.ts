import { diskRate, dollars } from '../money.ts'
import type { Offer } from './offers.ts'

/** How an offer is bought: at its price, or by bidding. `reserved` is sold as on-demand here. */
export type OfferType = 'on-demand' | 'bid' | 'reserved'

/** The part of an offer that depends on the search and the time. Prices in dollars per hour. */
export interface Quote {
  dph_base: number
  dph_total: number
  min_bid: number
  dlperf_per_dphtotal: number
  rentable: boolean
  rented: boolean
  is_bid: boolean
  score: number
}

/** The prices of an offer with `storage` GB of disk, bought in the given way. */
export function quote(offer: Offer, type: OfferType, storage: number): Quote {
  const { facts } = offer
  const base = type === 'bid' ? offer.minBid : offer.price
  const total = base + diskRate(facts.storage_cost, storage)
  const worth = (facts.dlperf * 1_000_000) / total
  return {
    dph_base: dollars(base),
    dph_total: dollars(total),
    min_bid: dollars(offer.minBid),
    dlperf_per_dphtotal: Math.round(worth * 1000) / 1000,
    rentable: !offer.rented,
    rented: offer.rented,
    is_bid: type === 'bid',
    score: Math.round(worth * facts.reliability2 * (facts.verified ? 1 : 0.8) * 1000) / 1000,
  }
}
