import type { Micros } from '../spending/money.ts'
import type { OfferQuery, OfferView } from './offer.ts'
import { countryOf } from './place.ts'

/** An offer with what filtering and drawing need, worked out once per answer. */
export interface ListedOffer {
  readonly offer: OfferView
  /** Micro-dollars per hour as listed: on demand with its storage; interruptible: lowest bid and storage. */
  readonly price: Micros | undefined
  /** Everything that free text finds, lower case. */
  readonly text: string
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
    offers: offers.map(offer => ({
      offer,
      price: listedPrice(offer, type),
      text: searchText(offer),
      region: offer.location === undefined ? undefined : countryOf(offer.location),
    })),
  }
}

function searchText(offer: OfferView): string {
  const parts = [offer.gpuName, offer.location, offer.cpuName, offer.id, offer.machineId]
  return parts
    .filter(part => part !== undefined)
    .join(' ')
    .toLowerCase()
}
