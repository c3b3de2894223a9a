import { refusal } from '#simulator/errors.ts'
import type { Condition } from './filters.ts'
import { catalogue, type Offer } from './offers.ts'
import { type Listing, PriceLists } from './price-list.ts'
import type { OfferType, QuotedOffer } from './quote.ts'

/** A search, read and checked. */
export interface OfferSearch {
  conditions: Condition[]
  /** Fields to sort by, the most important first. */
  order: { field: keyof QuotedOffer; descending: boolean }[]
  type: OfferType
  /** GB of disk that `dph_total` includes. */
  storage: number
  limit: number
}

/** All offers, and whether they are rented. */
export class Market {
  readonly #seed: number
  readonly #count: number
  #made: { byId: Map<number, Offer>; prices: PriceLists } | undefined

  constructor(seed: number, count: number) {
    this.#seed = seed
    this.#count = count
  }

  /** Drawn at the first use: thousands of offers take a while. */
  get #stock(): { byId: Map<number, Offer>; prices: PriceLists } {
    if (this.#made) return this.#made
    const offers = catalogue(this.#seed, this.#count)
    this.#made = {
      byId: new Map(offers.map(offer => [offer.facts.id, offer])),
      prices: new PriceLists(offers),
    }
    return this.#made
  }

  /** The offer, if it can be rented now. Throws 404 `no_such_ask` when it is unknown or rented already. */
  rentable(offerId: number): Offer {
    const offer = this.#stock.byId.get(offerId)
    if (!offer) throw refusal(404, 'no_such_ask', `There is no offer ${offerId}.`)
    if (offer.rented) throw refusal(404, 'no_such_ask', `Offer ${offerId} is no longer available.`)
    return offer
  }

  /** All offers, rented ones too. */
  all(): Offer[] {
    return [...this.#stock.byId.values()]
  }

  /** Whether an offer of this market is on that machine. */
  hasMachine(machineId: number): boolean {
    return [...this.#stock.byId.values()].some(({ facts }) => facts.machine_id === machineId)
  }

  /** The offers a search finds, each as JSON text. */
  search({ conditions, order, type, storage, limit }: OfferSearch): string[] {
    return this.#stock.prices
      .list(type, storage)
      .filter(listing =>
        conditions.every(({ field, test }) => test(listing.field(field as keyof QuotedOffer))),
      )
      .map(listing => ({ listing, keys: order.map(({ field }) => listing.field(field)) }))
      .sort(comparison(order))
      .slice(0, limit)
      .map(({ listing }) => listing.text())
  }
}

interface Sortable {
  listing: Listing
  keys: (number | string | boolean)[]
}

/** Orders by the given fields, then by id, so that each search has one result. */
function comparison(order: OfferSearch['order']) {
  return (left: Sortable, right: Sortable): number => {
    for (let index = 0; index < order.length; index++) {
      const a = left.keys[index]
      const b = right.keys[index]
      if (a === undefined || b === undefined || a === b) continue
      return a < b === order[index]?.descending ? 1 : -1
    }
    return left.listing.offer.facts.id - right.listing.offer.facts.id
  }
}
