import type { FailedHostView } from '../../../electron/contract/automation/failover.ts'
import { gpuWords } from '../../../electron/contract/format/name.ts'
import { catalogueOf } from '../../../electron/contract/market/catalogue.ts'
import { failedLast } from '../../../electron/contract/market/failed-last.ts'
import { passing } from '../../../electron/contract/market/filter.ts'
import { Sorter } from '../../../electron/contract/market/sort.ts'
import type { Market } from '../../features/market/market.svelte.ts'
import { priceSpread } from './table/spread.ts'

/** What the Offers screen makes of the market's answer. It ends with the screen; the market stays. */
export class OffersView {
  readonly market: Market
  /** Machines on which tries came to nothing. */
  readonly #failed: () => Readonly<Record<string, FailedHostView>>

  constructor(market: Market, failed: () => Readonly<Record<string, FailedHostView>>) {
    this.market = market
    this.#failed = failed
  }

  readonly found = $derived.by(() => this.market.found)
  readonly catalogue = $derived(this.found && catalogueOf(this.found.answer.offers, this.found.query.type))
  readonly #sorter = $derived(this.catalogue && new Sorter(this.catalogue))
  /** The offers that pass the filter, in the answer's order. */
  readonly #passed = $derived.by(() => passing(this.catalogue?.offers ?? [], this.market.filter))
  /** The offers that pass the filter, in order; those of machines that failed come last. */
  readonly shown = $derived.by(() => {
    const passed = new Set(this.#passed)
    const ordered = this.#sorter?.order(this.market.sortBy) ?? []
    return failedLast(
      ordered.filter(listed => passed.has(listed)),
      this.#failed(),
    )
  })
  readonly spread = $derived(priceSpread(this.#passed))
  /** Characters of the longest GPU of the answer, as shown. */
  readonly longestName = $derived(
    (this.catalogue?.offers ?? []).reduce((most, { offer }) => Math.max(most, gpuWords(offer).length), 0),
  )
}
