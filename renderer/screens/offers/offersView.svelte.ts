import type { Market } from '#renderer/features/market/market.svelte.ts'
import { catalogueOf, type ListedOffer, offersAt } from '#shared/market/catalogue.ts'
import { offersPassing } from '#shared/market/filter.ts'
import { Sorter } from '#shared/market/offer-order.ts'
import { offerName } from '#shared/market/offer-words.ts'
import type { FailedMachineView } from '#shared/market/rental-view.ts'
import { isWithin, type Region } from './scatter.ts'
import { Twins } from './table/twins.ts'

/** Milliseconds without a change. */
const pause = 150

/**
 * A value that is updated once it has not changed for a moment, so that slow drawing does not delay typing; at once
 * where its subject is another.
 */
function debounced<Value>(read: () => Value, subject: () => unknown): () => Value {
  let settled: { value: Value; subject: unknown } | undefined = $state.raw()
  $effect(() => {
    const next = { value: read(), subject: subject() }
    const wait = setTimeout(() => {
      settled = next
    }, pause)
    return () => clearTimeout(wait)
  })
  return () => (settled && settled.subject === subject() ? settled.value : read())
}

/** What narrows and widens the list, kept while other screens are shown. */
class Shown {
  /** The region selected in the chart. */
  region: Region | undefined = $state.raw()
  /** The open groups, by the offer id of their first row. */
  open: ReadonlySet<number> = $state.raw(new Set())
}
const shownOf = new WeakMap<Market, Shown>()

/** The Offers screen's view of the market's answer. It ends with the screen; the market stays. */
export class OffersView {
  readonly market: Market
  /** Machines on which attempts failed. */
  readonly #failed: () => Readonly<Record<string, FailedMachineView>>
  readonly #shown: Shown

  constructor(market: Market, failed: () => Readonly<Record<string, FailedMachineView>>) {
    this.market = market
    this.#failed = failed
    this.#shown = shownOf.get(market) ?? new Shown()
    shownOf.set(market, this.#shown)
  }

  get region(): Region | undefined {
    return this.#shown.region
  }

  set region(region: Region | undefined) {
    this.#shown.region = region
  }

  readonly found = $derived.by(() => this.market.found)
  readonly catalogue = $derived(this.found && catalogueOf(this.found.answer.offers, this.found.query.type))
  readonly #sorter = $derived(this.catalogue && new Sorter(this.catalogue))
  readonly offers = $derived(this.catalogue?.offers ?? [])
  readonly #twins = $derived(new Twins({ offers: this.offers }))
  /** Positions in the answer of the passing offers, in order, failed machines last; the region does not count. */
  readonly passing = $derived.by(
    () => this.#sorter?.positions(this.market.sortBy, this.market.filter, this.#failed()) ?? [],
  )
  readonly ordered = $derived(offersAt({ offers: this.offers }, this.passing))
  /** The passing offers within the chart's region. */
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
  /** The chart's offers, in the answer's order. */
  readonly charted = $derived.by(() => offersPassing(this.offers, this.#debouncedFilter()))
  /** The table's rows: one for each group of twins. */
  readonly groups = $derived.by(() => this.#twins.grouped(this.shown, this.#shown.open))
  /** The selected offer, while it is in the list. */
  readonly selected: ListedOffer | undefined = $derived.by(() => {
    const { selected } = this.market
    const chosen = (selected === undefined ? undefined : this.#twins.positionOf(selected)) ?? -1
    return this.shown.includes(chosen) ? this.offers[chosen] : undefined
  })
  /** Characters of the answer's longest GPU name, as shown. */
  readonly longestName = $derived(
    this.offers.reduce((most, listed) => Math.max(most, offerName(listed).length), 0),
  )

  /** Shows or hides the other offers of a row's group. */
  toggle(id: number): void {
    const open = new Set(this.#shown.open)
    if (!open.delete(id)) open.add(id)
    this.#shown.open = open
  }
}
