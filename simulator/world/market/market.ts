import { refusal } from '#simulator/errors.ts'
import type { Condition, FieldType } from './filters.ts'
import { catalogue, type Offer } from './offers.ts'
import { type OfferType, type QuotedOffer, quote } from './quote.ts'

/** The fields of an offer with their types, for filters and orders. */
export const offerFields: ReadonlyMap<string, FieldType> = new Map(
  catalogue(1, 1).flatMap(offer =>
    Object.entries({ ...offer.facts, ...quote(offer, 'on-demand', 0) }).map(([name, value]) => [
      name,
      name === 'cluster_id' ? 'number or null' : (typeof value as FieldType),
    ]),
  ),
)

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
  #made: Map<number, Offer> | undefined

  constructor(seed: number, count: number) {
    this.#seed = seed
    this.#count = count
  }

  /** By id, drawn at the first use: thousands of offers take a while. */
  get #stock(): Map<number, Offer> {
    this.#made ??= new Map(catalogue(this.#seed, this.#count).map(offer => [offer.facts.id, offer]))
    return this.#made
  }

  /** The offer, if it can be rented now. Throws 404 `no_such_ask` when it is unknown or rented already. */
  rentable(offerId: number): Offer {
    const offer = this.#stock.get(offerId)
    if (!offer) throw refusal(404, 'no_such_ask', `There is no offer ${offerId}.`)
    if (offer.rented) throw refusal(404, 'no_such_ask', `Offer ${offerId} is no longer available.`)
    return offer
  }

  /** All offers, rented ones too. */
  all(): Offer[] {
    return [...this.#stock.values()]
  }

  /** Whether an offer of this market is on that machine. */
  hasMachine(machineId: number): boolean {
    return [...this.#stock.values()].some(({ facts }) => facts.machine_id === machineId)
  }

  /** The offers a search finds, by the given order and then by id, so that each search has one result. */
  search({ conditions, order, type, storage, limit }: OfferSearch): QuotedOffer[] {
    return this.all()
      .map(offer => Object.assign({}, offer.facts, quote(offer, type, storage)))
      .filter(row => conditions.every(({ field, test }) => test(row[field as keyof QuotedOffer])))
      .sort((left, right) => {
        for (const { field, descending } of order) {
          const [one, other] = [left[field] ?? -1, right[field] ?? -1]
          if (one !== other) return one < other === descending ? 1 : -1
        }
        return left.id - right.id
      })
      .slice(0, limit)
  }
}
