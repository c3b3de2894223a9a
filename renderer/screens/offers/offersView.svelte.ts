import type { AccountId } from '../../../electron/contract/ids.ts'
import type { OfferFilter, OfferQuery, OffersAnswer, SavedQuery } from '../../../electron/contract/offer.ts'
import type { Problem } from '../../../electron/contract/problem.ts'
import { type Page, problemOf } from '../../berth/page.svelte.ts'
import { catalogueOf } from './catalogue.ts'
import { passing } from './filter.ts'
import { usualDisk } from './rentDefaults.ts'
import { type SortBy, type SortColumn, Sorter, sortAfterClick } from './sort.ts'
import { priceSpread } from './spread.ts'

/** As many offers as the page asks for. */
const mostOffers = 10_000
/** Milliseconds after which a return to the screen looks at the market again. */
const stale = 60_000

/** What the market answered, and what it was asked. */
interface Found {
  account: AccountId
  query: OfferQuery
  answer: OffersAnswer
}

/** What the Offers screen is looking at: kept while other screens are shown. */
export class OffersView {
  query: OfferQuery = $state.raw({ type: 'on-demand', verifiedOnly: true, storage: 20, limit: mostOffers })
  filter: OfferFilter = $state.raw({})
  sortBy: SortBy = $state.raw({ column: 'price', descending: false })
  loading = $state(false)
  problem: Problem | undefined = $state.raw()
  #found: Found | undefined = $state.raw()
  readonly #page: Page
  #search = 0

  constructor(page: Page) {
    this.#page = page
    if (page.account) this.query = { ...this.query, storage: usualDisk(page.account) }
  }

  /** What was found for this account and kind of rental; what another account or kind had is not shown. */
  readonly found: Found | undefined = $derived.by(() => {
    const found = this.#found
    if (found?.account !== this.#page.account?.id || found?.query.type !== this.query.type) return undefined
    return found
  })
  readonly catalogue = $derived(this.found && catalogueOf(this.found.answer.offers, this.found.query.type))
  readonly #sorter = $derived(this.catalogue && new Sorter(this.catalogue))
  /** The offers that pass the filter, in order. */
  readonly shown = $derived(this.#sorter ? passing(this.#sorter.order(this.sortBy), this.filter) : [])
  readonly spread = $derived(priceSpread(this.shown))

  /** Searches unless there is an answer that is new enough. */
  async enter(): Promise<void> {
    if (this.loading) return
    if (!this.found || Date.now() - this.found.answer.at > stale) await this.refresh()
  }

  /** Asks the market again; the last one to be asked for is the one shown. */
  async refresh(): Promise<void> {
    const account = this.#page.account?.id
    if (account === undefined) return
    const search = ++this.#search
    const { query } = this
    this.loading = true
    this.problem = undefined
    try {
      const answer = await this.#page.berth.searchOffers({ account, query })
      if (search === this.#search) this.#found = { account, query, answer }
    } catch (error) {
      if (search === this.#search) this.problem = problemOf(error)
    } finally {
      if (search === this.#search) this.loading = false
    }
  }

  /** Changes what the service is asked for. */
  ask(changes: Partial<OfferQuery>): Promise<void> {
    this.query = { ...this.query, ...changes }
    return this.refresh()
  }

  /** Takes over a saved search. */
  open(saved: SavedQuery): Promise<void> {
    this.filter = saved.filter
    return this.ask({ ...saved.query, limit: mostOffers })
  }

  sort(column: SortColumn): void {
    this.sortBy = sortAfterClick(this.sortBy, column)
  }
}

const views = new WeakMap<Page, OffersView>()

/** The page's one view of the market. */
export function offersView(page: Page): OffersView {
  const known = views.get(page)
  if (known) return known
  // What is derived ends with the effect it was made in. A root of its own lets the view outlive the screen.
  let view: OffersView | undefined
  $effect.root(() => {
    view = new OffersView(page)
    views.set(page, view)
  })
  return view ?? offersView(page)
}
