import type { FailedMachineView } from '../../../electron/contract/automation/attempts.ts'
import { gpuWords } from '../../../electron/contract/format/name.ts'
import { catalogueOf, type ListedOffer, offersAt } from '../../../electron/contract/market/catalogue.ts'
import { offersPassing } from '../../../electron/contract/market/filter.ts'
import { Sorter } from '../../../electron/contract/market/sort.ts'
import type { Market } from '../../features/market/market.svelte.ts'
import { isWithin, type Region } from './chart/scatter.ts'
import { debounced } from './debounced.svelte.ts'
import { Twins } from './table/twins.ts'

/** What the Offers screen makes of the market's answer. It ends with the screen; the market stays. */
export class OffersView {
  readonly market: Market
  /** Machines on which attempts came to nothing. */
  readonly #failed: () => Readonly<Record<string, FailedMachineView>>
  /** What of the chart is selected. */
  region: Region | undefined = $state.raw()
  /** Rows whose group is open, by the id of their offer. */
  #open: ReadonlySet<number> = $state.raw(new Set())

  constructor(market: Market, failed: () => Readonly<Record<string, FailedMachineView>>) {
    this.market = market
    this.#failed = failed
  }

  readonly found = $derived.by(() => this.market.found)
  readonly catalogue = $derived(this.found && catalogueOf(this.found.answer.offers, this.found.query.type))
  readonly #sorter = $derived(this.catalogue && new Sorter(this.catalogue))
  readonly offers = $derived(this.catalogue?.offers ?? [])
  readonly #twins = $derived(new Twins({ offers: this.offers }))
  /** Where those that pass the filter lie in the answer, in order, wherever they are in the chart; failed machines last. */
  readonly passing = $derived.by(
    () => this.#sorter?.positions(this.market.sortBy, this.market.filter, this.#failed()) ?? [],
  )
  readonly ordered = $derived(offersAt({ offers: this.offers }, this.passing))
  /** Those of the passing that lie in the region of the chart. */
  readonly shown = $derived.by(() => {
    const { region } = this
    if (!region) return this.passing
    return this.passing.filter(position => {
      const listed = this.offers[position]
      return listed !== undefined && isWithin(listed, region)
    })
  })
  readonly #debouncedFilter = debounced(
    () => this.market.filter,
    () => this.catalogue,
  )
  /** What the chart shows, in the answer's order. */
  readonly charted = $derived.by(() => offersPassing(this.offers, this.#debouncedFilter()))
  /** The rows of the table: one for all that are alike. */
  readonly groups = $derived.by(() => this.#twins.grouped(this.shown, this.#open))
  readonly #first = $derived(this.offers[this.shown[0] ?? -1])
  readonly #debouncedFirst = debounced(
    () => this.#first,
    () => this.catalogue,
  )
  /** The offer that is selected: the first where none was chosen; undefined once the user has closed it. */
  readonly selected: ListedOffer | undefined = $derived.by(() => {
    const { selected } = this.market
    if (selected === null || this.shown.length === 0) return undefined
    const chosen = (selected === undefined ? undefined : this.#twins.positionOf(selected)) ?? -1
    return this.shown.includes(chosen) ? this.offers[chosen] : (this.#debouncedFirst() ?? this.#first)
  })
  /** Characters of the longest GPU of the answer, as shown. */
  readonly longestName = $derived(
    this.offers.reduce((most, { offer }) => Math.max(most, gpuWords(offer).length), 0),
  )

  /** Shows or hides the others of a row's group. */
  toggle(id: number): void {
    const open = new Set(this.#open)
    if (!open.delete(id)) open.add(id)
    this.#open = open
  }
}
