import type { Micros } from '../spending/money.ts'
import type { OfferView, PricedOffer } from './offer.ts'
import type { OfferQuery } from './offer-query.ts'
import { countryOf } from './place.ts'
import { searchText } from './search-text.ts'

/** An offer with derived values for filtering and drawing, computed once per answer. */
export interface ListedOffer extends PricedOffer {
  /** The text for free-text search, see `searchText`. */
  readonly text: string
  /** Country code, or the whole location if it has none. */
  readonly region: string | undefined
}

/** A search's answer, indexed for filters and sorting. */
export interface Catalogue {
  readonly type: OfferQuery['type']
  readonly offers: readonly ListedOffer[]
}

/** `ListedOffer.price`; undefined if the service does not say. */
export function listedPrice(offer: OfferView, type: OfferQuery['type']): Micros | undefined {
  if (type === 'on-demand') return offer.price
  return offer.minimumBid === undefined ? undefined : offer.minimumBid + (offer.storagePrice ?? 0)
}

/** Indexes an answer once, so that each key typed into a filter only reads plain fields. */
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

/** The offers at these positions of an answer. */
export function offersAt({ offers }: Pick<Catalogue, 'offers'>, positions: readonly number[]): ListedOffer[] {
  const found: ListedOffer[] = []
  for (const position of positions) {
    const listed = offers[position]
    if (listed) found.push(listed)
  }
  return found
}
