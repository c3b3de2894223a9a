import { catalogueOf } from '../../../electron/contract/market/catalogue.ts'
import { passing } from '../../../electron/contract/market/filter.ts'
import { Sorter } from '../../../electron/contract/market/sort.ts'
import type { Market } from './market.svelte.ts'
import { priceSpread } from './spread.ts'

/** What the Offers screen makes of the market's answer. It ends with the screen; the market stays. */
export class OffersView {
  readonly market: Market

  constructor(market: Market) {
    this.market = market
  }

  readonly found = $derived.by(() => this.market.found)
  readonly catalogue = $derived(this.found && catalogueOf(this.found.answer.offers, this.found.query.type))
  readonly #sorter = $derived(this.catalogue && new Sorter(this.catalogue))
  /** The offers that pass the filter, in order. */
  readonly shown = $derived.by(() => {
    const { filter, sortBy } = this.market
    return this.#sorter ? passing(this.#sorter.order(sortBy), filter) : []
  })
  readonly spread = $derived(priceSpread(this.shown))
}
