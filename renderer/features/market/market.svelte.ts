import { KeptOrder } from '#renderer/bridge/listOrder.svelte.ts'
import { answerProblem, type Page } from '#renderer/bridge/page.svelte.ts'
import { beginAtTop } from '#renderer/components/scrollPlace.ts'
import type { Limit } from '#shared/automation/limit.ts'
import type { AccountId } from '#shared/ids.ts'
import { strictest, withValues } from '#shared/market/filter.ts'
import { type SortColumn, sortColumns } from '#shared/market/offer-columns.ts'
import { type SortBy, sortAfterClick } from '#shared/market/offer-order.ts'
import type { OfferFilter, OfferQuery, OffersAnswer, SavedQuery } from '#shared/market/offer-query.ts'
import { defaultDisk } from '#shared/market/rental-defaults.ts'
import type { TemplateView } from '#shared/market/template.ts'
import type { Problem } from '#shared/problem.ts'
import { firstLimits } from '../limits/rentalLimits.ts'
import { readExtraFilters } from '../templates/extraFilters.ts'
import { hasUsual, mostOffers, usualFilter, usualQuery } from './rentDefaults.ts'

/** Milliseconds after which a return to the screen searches the market again; a changed search uses newer answers. */
const stale = 60_000
/** Milliseconds without a change of the filter after which the service is asked, where it must be. */
const typingPause = 1000
/** Milliseconds without a change after which the search is remembered. */
const rememberPause = 1000

const usualOrder: SortBy = { column: 'score', descending: true }

/** The market's answer and its query. */
export interface Found {
  account: AccountId
  query: OfferQuery
  answer: OffersAnswer
}

/** The chosen template. */
export interface ChosenTemplate extends TemplateSearch {
  account: AccountId
  template: TemplateView
}

/** The market's query, display and answer, kept while other screens are shown. */
export class Market {
  query: OfferQuery = $state.raw(usualQuery(undefined))
  #filter: OfferFilter = $state.raw({})
  loading = $state(false)
  problem: Problem | undefined = $state.raw()
  /** The id of the selected offer. */
  selected: number | undefined = $state()
  /** The offer to rent once the search has found it; its id. */
  wanted: number | undefined = $state()
  #chosen: ChosenTemplate | undefined = $state.raw()
  /** The last answer for each kind of rental. */
  #last: Partial<Record<OfferQuery['type'], Found>> = $state.raw({})
  /** The stops of the next rental, if chosen since the last one. */
  #limits: { account: AccountId; limits: readonly Limit[] } | undefined = $state.raw()
  /** Default disk in GB; replaced once the user picks one. */
  #usualDisk = defaultDisk
  /** Whether the filter is a proposal that nobody has touched. */
  #proposed = false
  /** Whether the saved search was restored or the user has already searched. */
  #begun = false
  #remembering: ReturnType<typeof setTimeout> | undefined
  readonly #page: Page
  readonly #order: KeptOrder<SortBy>
  /** The pending query; the last answer is shown meanwhile. */
  #search: AbortController | undefined
  /** Whether the current search is still pending. */
  #owed = false
  #asking: ReturnType<typeof setTimeout> | undefined

  constructor(page: Page) {
    this.#page = page
    this.#order = new KeptOrder(page, 'offers', sortColumns)
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

  /** Filters the list, and asks the service for matches if it lists only some offers at a time. */
  set filter(filter: OfferFilter) {
    this.#begun = true
    this.#proposed = false
    this.#filter = filter
    this.#askSoon()
    this.#remember()
  }

  /** What is demanded of hosts, which another search keeps. */
  get standing(): OfferFilter {
    const last = this.#page.state?.settings.offers.search?.filter
    const { reliabilityFrom } = this.#begun ? this.#filter : (last ?? usualFilter)
    return reliabilityFrom === undefined ? {} : { reliabilityFrom }
  }

  find(text: string): void {
    this.filter = withValues(this.#filter, { text })
  }

  /** The stops of the next rental: those chosen here, else the usual ones. */
  get limits(): readonly Limit[] {
    const { account } = this.#page
    const chosen = this.#limits?.account === account?.id ? this.#limits?.limits : undefined
    return chosen ?? firstLimits(account)
  }

  set limits(limits: readonly Limit[]) {
    const account = this.#page.account?.id
    this.#limits = account === undefined ? undefined : { account, limits }
  }

  /** Starts with the last search, else with reliable hosts. */
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
      // A template's filters are not the user's search.
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

  /** The answer for this account and kind of rental only. */
  get found(): Found | undefined {
    const last = this.#last[this.query.type]
    return last?.account === this.#page.account?.id ? last : undefined
  }

  /** The chosen template of this account. */
  get chosen(): ChosenTemplate | undefined {
    return this.#chosen?.account === this.#page.account?.id ? this.#chosen : undefined
  }

  /** Chooses a template: its machine filters join the filter, and prices include its disk. */
  startFrom(template: TemplateView): Promise<void> {
    const account = this.#page.account?.id
    if (account === undefined) return Promise.resolve()
    // The search that remains once the template is forgotten: the user's, or the usual one.
    this.#begin()
    this.#withdrawTemplate()
    const search = templateSearch({ query: this.query, filter: this.filter }, template)
    this.#chosen = { account, template, ...search }
    this.filter = search.made.filter
    return this.#askFor(search.made.query)
  }

  /**
   * Rents without the chosen template; with `hash`, only if it is that one. Values it filled in are reset; values
   * changed since stay.
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

  /** Resets the search to its defaults, without a template. */
  reset(): Promise<void> {
    this.#chosen = undefined
    this.selected = undefined
    this.filter = usualFilter
    this.#proposed = true
    return this.#askFor({ ...this.#usualQuery(), type: this.query.type })
  }

  /** The chosen template was edited; this is its new version. */
  templateEdited(from: string, template: TemplateView): void {
    if (this.#chosen?.template.hash === from) this.#chosen = { ...this.#chosen, template }
  }

  /** Searches without the filters that only the service knows. */
  dropExtra(): Promise<void> {
    return this.#askFor({ ...this.query, extra: {} })
  }

  /** Searches unless there is an answer that is new enough; another account's usual disk may be another. */
  async enter(): Promise<void> {
    this.#begin()
    // A template belongs to its account: its values mean nothing on another.
    if (this.#chosen && !this.chosen) this.#withdrawTemplate()
    const isUsual = this.query.storage === this.#usualDisk
    const { storage } = this.#usualQuery()
    if (isUsual) this.query = { ...this.query, storage }
    const { found } = this
    const isLeft = this.#owed && !this.loading
    if (isLeft || found?.query.storage !== this.query.storage || Date.now() - found.answer.at > stale)
      await this.#searchMarket(stale)
  }

  /** Nobody looks any longer: requests that weren't sent yet wait until someone does. */
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

  /** Searches the market, or uses an answer up to `maxAge` milliseconds old; withdraws the search before. */
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
      const searchRequest = { account, query, filter, maxAge }
      const answer = await this.#page.berth.searchOffers(searchRequest, search.signal)
      if (search !== this.#search) return
      this.#owed = false
      this.#last = { ...this.#last, [query.type]: { account, query, answer } }
      // If no offer matches the defaults, all are shown.
      if (this.#proposed && !hasUsual(answer.offers)) {
        this.#filter = {}
        this.#proposed = false
      }
      // Text typed meanwhile has not been searched for yet.
      if (this.filter !== filter) this.#askSoon()
    } catch (error) {
      if (search !== this.#search) return
      this.#owed = false
      this.problem = answerProblem(error)
      if (this.problem.code === 'rate_limited') this.#askLater()
    } finally {
      if (search === this.#search) this.loading = false
    }
  }

  /** Searches again once the service allows it. */
  #askLater(): void {
    const wait = (this.#page.account?.askedToWait ?? 0) - Date.now()
    this.#asking = setTimeout(() => void this.#searchMarket(stale), Math.max(typingPause, wait))
  }

  /** An offer was requested: it is hidden, even if the shown answer still lists it. */
  took(offer: number): void {
    const without = (last: Found) => {
      const offers = last.answer.offers.filter(({ id }) => id !== offer)
      return [last.query.type, { ...last, answer: { ...last.answer, offers } }]
    }
    this.#last = Object.fromEntries(Object.values(this.#last).map(without))
  }

  /** Changes the query to the service. */
  ask(changes: Partial<OfferQuery>): Promise<void> {
    return this.#askFor({ ...this.query, ...changes })
  }

  /** Takes over a saved search, to rent one of its offers where one is named. */
  open(saved: SavedQuery, wanted?: number): Promise<void> {
    beginAtTop('Offers')
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

  get sortBy(): SortBy {
    return this.#order.by ?? usualOrder
  }

  sort(column: SortColumn): void {
    this.#order.by = sortAfterClick(this.sortBy, column)
  }
}

const markets = new WeakMap<Page, Market>()

/** The page’s one search of the market. */
export function marketOf(page: Page): Market {
  const market = markets.get(page) ?? new Market(page)
  markets.set(page, market)
  return market
}

/** What a template made of a search. */
export interface TemplateSearch {
  before: SavedQuery
  made: SavedQuery
  /** Fields of its machine filters that nobody understands. */
  unread: readonly string[]
}

/** A template's machine filters join the user's, and the stricter one holds; its disk is what prices include. */
export function templateSearch(before: SavedQuery, template: TemplateView): TemplateSearch {
  const { filter, extra, verifiedOnly, unread } = readExtraFilters(template.extraFilters ?? {})
  const { disk } = template
  const query = {
    ...before.query,
    ...(disk !== undefined && disk > 0 && { storage: Math.min(disk, 100_000) }),
    ...(verifiedOnly !== undefined && { verifiedOnly: verifiedOnly || before.query.verifiedOnly }),
    extra,
  }
  return { before, made: { query, filter: strictest(before.filter, filter) }, unread }
}

/** The search without the template's values; later changes stay. */
export function withoutTemplate(now: SavedQuery, { before, made }: TemplateSearch): SavedQuery {
  const { extra = {}, ...query } = takenBack({ extra: {}, ...now.query }, made.query, before.query)
  return {
    query: Object.keys(extra).length > 0 ? { ...query, extra } : query,
    filter: takenBack(now.filter, made.filter, before.filter),
  }
}

/** The present search, with the fields that the template set and nobody changed put back. */
function takenBack<T extends object>(now: T, made: T, before: T): T {
  const same = (key: keyof T) => JSON.stringify(now[key]) === JSON.stringify(made[key])
  const keys = [...new Set([...Object.keys(now), ...Object.keys(before)])] as (keyof T)[]
  const entries = keys.map(key => [key, same(key) ? before[key] : now[key]] as const)
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as T
}
