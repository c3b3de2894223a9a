import type { FailedMachineView } from '../../../electron/contract/automation/failover.ts'
import { gpuWords } from '../../../electron/contract/format/name.ts'
import { catalogueOf, type ListedOffer } from '../../../electron/contract/market/catalogue.ts'
import { failedLast } from '../../../electron/contract/market/failed-last.ts'
import { passing } from '../../../electron/contract/market/filter.ts'
import { Sorter } from '../../../electron/contract/market/sort.ts'
import type { Market } from '../../features/market/market.svelte.ts'
import { isWithin, type Region } from './chart/scatter.ts'
import { settled } from './settled.svelte.ts'
import { grouped, twinsOf } from './table/twins.ts'

/** What the Offers screen makes of the market's answer. It ends with the screen; the market stays. */
export class OffersView {
  readonly market: Market
  /** Machines on which tries came to nothing. */
  readonly #failed: () => Readonly<Record<string, FailedMachineView>>
  /** What of the chart is looked at. */
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
  readonly #twins = $derived(twinsOf(this.catalogue?.offers ?? []))
  /** The offers that pass the filter, in order, wherever they lie in the chart; those of machines that failed come last. */
  readonly ordered = $derived.by(() =>
    failedLast(this.#sorter?.order(this.market.sortBy, this.market.filter) ?? [], this.#failed()),
  )
  /** Those of them that lie in the region of the chart. */
  readonly shown = $derived.by(() => {
    const { region } = this
    return region ? this.ordered.filter(listed => isWithin(listed, region)) : this.ordered
  })
  readonly #settledFilter = settled(
    () => this.market.filter,
    () => this.catalogue,
  )
  /** What the chart shows, in the answer's order. */
  readonly charted = $derived.by(() => passing(this.catalogue?.offers ?? [], this.#settledFilter()))
  /** The rows of the table: one for all that are alike. */
  readonly groups = $derived.by(() => grouped(this.shown, this.#twins, this.#open))
  readonly #settledFirst = settled(
    () => this.shown[0],
    () => this.catalogue,
  )
  /** The offer that is looked at: the first where none was chosen; undefined once the user has closed it. */
  readonly looked: ListedOffer | undefined = $derived.by(() => {
    const { looked } = this.market
    if (looked === null || this.shown.length === 0) return undefined
    const chosen = looked === undefined ? undefined : this.shown.find(({ offer }) => offer.id === looked)
    return chosen ?? this.#settledFirst() ?? this.shown[0]
  })
  /** Characters of the longest GPU of the answer, as shown. */
  readonly longestName = $derived(
    (this.catalogue?.offers ?? []).reduce((most, { offer }) => Math.max(most, gpuWords(offer).length), 0),
  )

  /** Shows or hides the others of a row's group. */
  toggle(id: number): void {
    const open = new Set(this.#open)
    if (!open.delete(id)) open.add(id)
    this.#open = open
  }
}
