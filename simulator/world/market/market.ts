import { refusal } from '#simulator/errors.ts'
import { catalogue, type Offer } from './offers.ts'

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
}
