import type { Offer, OfferFacts } from './offers.ts'
import { type OfferType, type Quote, type QuotedOffer, quote } from './quote.ts'

/** An offer with its prices for one way of buying and one amount of disk. */
export class Listing {
  readonly offer: Offer
  readonly quote: Quote
  #text: string | null = null

  constructor(offer: Offer, price: Quote) {
    this.offer = offer
    this.quote = price
  }

  field(name: keyof QuotedOffer): number | string | boolean {
    return name in this.quote ? this.quote[name as keyof Quote] : this.offer.facts[name as keyof OfferFacts]
  }

  /** Its JSON, made once: serialising 20,000 offers takes longer than finding them. */
  text(): string {
    this.#text ??= `${factsText(this.offer)},${JSON.stringify(this.quote).slice(1)}`
    return this.#text
  }
}

const factsTexts = new WeakMap<Offer, string>()

/** An offer's constant part, as JSON without its closing brace, shared by all price lists. */
function factsText(offer: Offer): string {
  let text = factsTexts.get(offer)
  if (text === undefined) {
    text = JSON.stringify(offer.facts).slice(0, -1)
    factsTexts.set(offer, text)
  }
  return text
}

/** The most price lists to keep: a user mostly moves the disk slider. */
const MOST_LISTS = 4

/** Price lists by way of buying and disk, kept from search to search and corrected where an offer was rented. */
export class PriceLists {
  readonly #offers: readonly Offer[]
  readonly #lists = new Map<string, Listing[]>()

  constructor(offers: readonly Offer[]) {
    this.#offers = offers
  }

  /** All offers, with `storage` GB of disk included. */
  list(type: OfferType, storage: number): Listing[] {
    const name = `${type} ${storage}`
    let list = this.#lists.get(name)
    this.#lists.delete(name)
    list ??= this.#offers.map(offer => new Listing(offer, quote(offer, type, storage)))
    for (let index = 0; index < list.length; index++) {
      const { offer, quote: price } = list[index] as Listing
      if (offer.rented !== price.rented) list[index] = new Listing(offer, quote(offer, type, storage))
    }
    this.#lists.set(name, list)
    const oldest = this.#lists.keys().next()
    if (this.#lists.size > MOST_LISTS && !oldest.done) this.#lists.delete(oldest.value)
    return list
  }
}
