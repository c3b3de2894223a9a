import type { Limit } from '#contract/automation/limit.ts'
import type { AccountId } from '#contract/ids.ts'
import { withValues } from '#contract/market/filter.ts'
import type { OfferFilter, OfferQuery, OffersAnswer, SavedQuery } from '#contract/market/offer.ts'
import { type SortBy, type SortColumn, sortAfterClick } from '#contract/market/offer-columns.ts'
import { firstDisk } from '#contract/market/rental.ts'
import type { TemplateView } from '#contract/market/template.ts'
import type { Problem } from '#contract/problem.ts'
import { answerProblem, type Page } from '#renderer/berth/page.svelte.ts'
import { firstStops } from '../limits/stops.ts'
import { hasUsual, mostOffers, usualFilter, usualQuery } from './rentDefaults.ts'
import { type TemplateSearch, templateSearch, withoutTemplate } from './templateSearch.ts'

/** Milliseconds after which a return to the screen searches the market again; a changed search uses what is younger. */
const stale = 60_000
/** Milliseconds without a change of the filter after which the service is asked, where it must be. */
const typingPause = 1000
/** Milliseconds without a change after which what is looked for is remembered. */
const rememberPause = 1000

/** What the market answered, and what it was asked. */
export interface Found {
  account: AccountId
  query: OfferQuery
  answer: OffersAnswer
}

/** What is going to be rented from. */
export interface ChosenTemplate extends TemplateSearch {
  account: AccountId
  template: TemplateView
}

/** What is asked of the market, how its answer is shown, and the answer: kept while other screens are shown. */
export class Market {
  query: OfferQuery = $state.raw(usualQuery(undefined))
  #filter: OfferFilter = $state.raw({})
  sortBy: SortBy = $state.raw({ column: 'score', descending: true })
  loading = $state(false)
  problem: Problem | undefined = $state.raw()
  /** The id of the selected offer. */
  selected: number | undefined = $state()
  /** The offer to rent once the search has found it; its id. */
  wanted: number | undefined = $state()
  #chosen: ChosenTemplate | undefined = $state.raw()
  #last: Found | undefined = $state.raw()
  /** What the next rental is to be stopped by, where that was chosen since the last one. */
  #stops: { account: AccountId; stops: readonly Limit[] } | undefined = $state.raw()
  /** GB, the disk that the search began with: what is looked for has it still unless the user has chosen another. */
  #usualDisk = firstDisk
  /** Whether the filter is a proposal that nobody has touched. */
  #proposed = false
  /** Whether what was looked for last was taken up, or something else was asked for before. */
  #begun = false
  #remembering: ReturnType<typeof setTimeout> | undefined
  readonly #page: Page
  /** What the market is being asked; its last answer is the one shown. */
  #search: AbortController | undefined
  /** Whether what is looked for now has not been answered or refused yet. */
  #owed = false
  #asking: ReturnType<typeof setTimeout> | undefined

  constructor(page: Page) {
    this.#page = page
    this.query = this.#usualQuery()
  }

  #usualQuery(): OfferQuery {
    const query = usualQuery(this.#page.account)
    this.#usualDisk = query.storage
    return query
  }

  get filter(): OfferFilter {
    return this.#filter
  }

  /** Filters what is listed, and has the service list what is looked for where it lists only some at a time. */
  set filter(filter: OfferFilter) {
    this.#begun = true
    this.#proposed = false
    this.#filter = filter
    this.#askSoon()
    this.#remember()
  }

  find(text: string): void {
    this.filter = withValues(this.#filter, { text })
  }

  /** What stops the next rental: as chosen here, else as usual. */
  get stops(): readonly Limit[] {
    const { account } = this.#page
    const chosen = this.#stops?.account === account?.id ? this.#stops?.stops : undefined
    return chosen ?? firstStops(account)
  }

  set stops(stops: readonly Limit[]) {
    const account = this.#page.account?.id
    this.#stops = account === undefined ? undefined : { account, stops }
  }

  /** Begins with what was looked for last, else with reliable hosts. */
  #begin(): void {
    if (this.#begun) return
    this.#begun = true
    const last = this.#page.state?.settings.offers.search
    if (last) {
      this.query = { ...this.query, ...last.query, limit: mostOffers }
      this.#filter = last.filter
    } else {
      this.#filter = usualFilter
      this.#proposed = true
    }
  }

  #remember(): void {
    clearTimeout(this.#remembering)
    this.#remembering = setTimeout(() => {
      // What a template asked for is not what was looked for.
      if (this.#chosen) return
      const search = this.#proposed ? null : { query: this.query, filter: this.#filter }
      void this.#page.berth.changeSettings({ settings: { offers: { search } } }).catch(() => undefined)
    }, rememberPause)
  }

  #askSoon(): void {
    clearTimeout(this.#asking)
    if (this.found?.answer.cap === undefined) return
    this.#owed = true
    this.#asking = setTimeout(() => void this.#searchMarket(stale), typingPause)
  }

  /** The answer for this account and kind of rental; what another account or kind had is not shown. */
  get found(): Found | undefined {
    const last = this.#last
    return last?.account === this.#page.account?.id && last?.query.type === this.query.type ? last : undefined
  }

  /** What is going to be rented from on this account. */
  get chosen(): ChosenTemplate | undefined {
    return this.#chosen?.account === this.#page.account?.id ? this.#chosen : undefined
  }

  /** Chooses a template: its machine filters take the place of the filter, its disk is what prices include. */
  startFrom(template: TemplateView): Promise<void> {
    const account = this.#page.account?.id
    if (account === undefined) return Promise.resolve()
    this.#withdrawTemplate()
    const search = templateSearch({ query: this.query, filter: this.filter }, template)
    this.#chosen = { account, template, ...search }
    this.filter = search.made.filter
    return this.#askFor(search.made.query)
  }

  /**
   * Rents without the template that was chosen; with `hash`, only if it is that one. What it filled in is again what it
   * was before; what was changed since stays.
   */
  async forgetTemplate(hash?: string): Promise<void> {
    if (!this.#chosen || (hash !== undefined && this.#chosen.template.hash !== hash)) return
    this.#withdrawTemplate()
    await this.#searchMarket(stale)
  }

  #withdrawTemplate(): void {
    if (!this.#chosen) return
    const { query, filter } = withoutTemplate({ query: this.query, filter: this.filter }, this.#chosen)
    this.#chosen = undefined
    this.query = query
    this.filter = filter
  }

  /** Goes back to what a search begins with, without the template that was chosen. */
  reset(): Promise<void> {
    this.#chosen = undefined
    this.selected = undefined
    this.filter = usualFilter
    this.#proposed = true
    return this.#askFor({ ...this.#usualQuery(), type: this.query.type })
  }

  /** The chosen template was edited: from now on this is what it is. */
  templateEdited(from: string, template: TemplateView): void {
    if (this.#chosen?.template.hash === from) this.#chosen = { ...this.#chosen, template }
  }

  /** Searches without what only the service knows. */
  dropExtra(): Promise<void> {
    return this.#askFor({ ...this.query, extra: {} })
  }

  /** Searches unless there is an answer that is new enough; another account's usual disk may be another. */
  async enter(): Promise<void> {
    this.#begin()
    // A template belongs to its account: what it filled in says nothing on another.
    if (this.#chosen && !this.chosen) this.#withdrawTemplate()
    const isUsual = this.query.storage === this.#usualDisk
    const { storage } = this.#usualQuery()
    if (isUsual) this.query = { ...this.query, storage }
    const { found } = this
    const isLeft = this.#owed && !this.loading
    if (isLeft || found?.query.storage !== this.query.storage || Date.now() - found.answer.at > stale)
      await this.#searchMarket(stale)
  }

  /** Nobody looks any longer: what was not asked yet waits until someone does. */
  leave(): void {
    clearTimeout(this.#asking)
    this.#search?.abort()
    this.#search = undefined
    this.loading = false
  }

  /** Asks the market again. */
  refresh(): Promise<void> {
    return this.#searchMarket()
  }

  /** Asks the market, or takes what it answered up to `maxAge` milliseconds ago; the search before is withdrawn. */
  async #searchMarket(maxAge?: number): Promise<void> {
    const account = this.#page.account?.id
    if (account === undefined) return
    this.leave()
    const search = new AbortController()
    this.#search = search
    this.#owed = true
    const { query } = this
    const filter = this.#filter
    this.loading = true
    this.problem = undefined
    try {
      const asked = { account, query, filter, maxAge }
      const answer = await this.#page.berth.searchOffers(asked, search.signal)
      if (search !== this.#search) return
      this.#owed = false
      this.#last = { account, query, answer }
      // A market without any of what is proposed is shown as it is.
      if (this.#proposed && !hasUsual(answer.offers)) {
        this.#filter = {}
        this.#proposed = false
      }
      // What was typed meanwhile has not been looked for yet.
      if (this.filter !== filter) this.#askSoon()
    } catch (error) {
      if (search !== this.#search) return
      this.#owed = false
      this.problem = answerProblem(error)
    } finally {
      if (search === this.#search) this.loading = false
    }
  }

  /** An offer was asked for: nobody rents it a second time, whatever the answer that is shown still says. */
  took(offer: number): void {
    const last = this.#last
    if (!last) return
    const offers = last.answer.offers.filter(({ id }) => id !== offer)
    this.#last = { ...last, answer: { ...last.answer, offers } }
  }

  /** Changes what the service is asked for. */
  ask(changes: Partial<OfferQuery>): Promise<void> {
    return this.#askFor({ ...this.query, ...changes })
  }

  /** Takes over a saved search, to rent one of its offers where one is named. */
  open(saved: SavedQuery, wanted?: number): Promise<void> {
    this.filter = saved.filter
    this.wanted = wanted
    return this.#askFor({ ...this.query, extra: {}, ...saved.query, limit: mostOffers })
  }

  #askFor({ extra, ...query }: OfferQuery): Promise<void> {
    this.#begun = true
    this.query = extra && Object.keys(extra).length > 0 ? { ...query, extra } : query
    this.#remember()
    return this.#searchMarket(stale)
  }

  sort(column: SortColumn): void {
    this.sortBy = sortAfterClick(this.sortBy, column)
  }
}

const markets = new WeakMap<Page, Market>()

/** The page’s one search of the market. */
export function marketOf(page: Page): Market {
  const market = markets.get(page) ?? new Market(page)
  markets.set(page, market)
  return market
}
