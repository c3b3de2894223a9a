import type { Micros } from '../spending/money.ts'
import type { OfferQuery, OfferView } from './offer.ts'
import { countryOf } from './place.ts'
import { searchText } from './search-text.ts'

/** An offer with what filtering and drawing need, worked out once per answer. */
export interface ListedOffer {
  readonly offer: OfferView
  /** Micro-dollars per hour as listed: on demand with its storage; interruptible: lowest bid and storage. */
  readonly price: Micros | undefined
  /** What free text finds, see `searchText`. */
  readonly text: string
  /** Micro-dollars per hour for one of its GPUs. */
  readonly pricePerGpu: Micros | undefined
  /** Country code, or the whole location where it names none. */
  readonly region: string | undefined
}

/** An answer of the market, indexed for filters and sorting. */
export interface Catalogue {
  readonly type: OfferQuery['type']
  readonly offers: readonly ListedOffer[]
}

/** Micro-dollars per hour as listed; undefined when the service does not say. */
export function listedPrice(offer: OfferView, type: OfferQuery['type']): Micros | undefined {
  if (type === 'on-demand') return offer.price
  return offer.minimumBid === undefined ? undefined : offer.minimumBid + (offer.storagePrice ?? 0)
}

/** Indexes an answer; done once, so that a key in a filter costs one walk over plain fields. */
export function catalogueOf(offers: readonly OfferView[], type: OfferQuery['type']): Catalogue {
  return {
    type,
    offers: offers.map(offer => {
      const price = listedPrice(offer, type)
      return {
        offer,
        price,
        pricePerGpu: price === undefined ? undefined : Math.round(price / (offer.gpuCount ?? 1)),
        text: searchText(offer),
        region: offer.location === undefined ? undefined : countryOf(offer.location),
      }
    }),
  }
}

/** The offers that lie at those positions of an answer. */
export function offersAt({ offers }: Pick<Catalogue, 'offers'>, positions: readonly number[]): ListedOffer[] {
  const found: ListedOffer[] = []
  for (const position of positions) {
    const listed = offers[position]
    if (listed) found.push(listed)
  }
  return found
}
