import { refusal } from '../errors.ts'
import type { Condition } from './filters.ts'
import { catalogue, type Offer } from './offers.ts'
import { type OfferType, type Quote, type QuotedOffer, quote } from './quote.ts'

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

interface Found {
  offer: Offer
  quote: Quote
}

/** The offers there are, and which of them are rented. */
export class Market {
  readonly #offers: Offer[]
  readonly #byId: Map<number, Offer>

  constructor(seed: number, count: number) {
    this.#offers = catalogue(seed, count)
    this.#byId = new Map(this.#offers.map(offer => [offer.facts.id, offer]))
  }

  /** The offer, if it can be rented now. Throws 404 `no_such_ask` when it is unknown or rented already. */
  rentable(offerId: number): Offer {
    const offer = this.#byId.get(offerId)
    if (!offer) throw refusal(404, 'no_such_ask', `There is no offer ${offerId}.`)
    if (offer.rented) throw refusal(404, 'no_such_ask', `Offer ${offerId} is no longer available.`)
    return offer
  }

  /**
   * The offers a search finds, each as JSON text. Text, since writing 20,000 offers as JSON anew takes longer
   * than finding them: what never changes about an offer is written once.
   */
  search(search: OfferSearch): string[] {
    const found: Found[] = []
    for (const offer of this.#offers) {
      const candidate = { offer, quote: quote(offer, search.type, search.storage) }
      if (
        search.conditions.every(({ field, test }) => test(fieldOf(candidate, field as keyof QuotedOffer)))
      ) {
        found.push(candidate)
      }
    }
    return found.sort(comparison(search.order)).slice(0, search.limit).map(offerText)
  }
}

function fieldOf({ offer, quote }: Found, field: keyof QuotedOffer): number | string | boolean {
  return field in quote ? quote[field as keyof Quote] : offer.facts[field as keyof Offer['facts']]
}

/** By the fields asked for; ties in the order of ids, so that a search has one answer. */
function comparison(order: OfferSearch['order']) {
  return (left: Found, right: Found): number => {
    for (const { field, descending } of order) {
      const a = fieldOf(left, field)
      const b = fieldOf(right, field)
      if (a !== b) return a < b === descending ? 1 : -1
    }
    return left.offer.facts.id - right.offer.facts.id
  }
}

const factTexts = new WeakMap<Offer, string>()

function offerText({ offer, quote }: Found): string {
  let facts = factTexts.get(offer)
  if (facts === undefined) {
    facts = JSON.stringify(offer.facts).slice(0, -1)
    factTexts.set(offer, facts)
  }
  return `${facts},${JSON.stringify(quote).slice(1)}`
}
