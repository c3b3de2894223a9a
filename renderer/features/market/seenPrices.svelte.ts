import { answerProblem, type Page } from '#renderer/bridge/page.svelte.ts'
import type { AccountId } from '#shared/ids.ts'
import { catalogueOf, type ListedOffer } from '#shared/market/catalogue.ts'
import { offersPassing } from '#shared/market/filter.ts'
import type { OfferFilter, OfferQuery, OffersAnswer, SavedQuery } from '#shared/market/offer-query.ts'
import type { Problem } from '#shared/problem.ts'

/** Milliseconds after which the market is asked again. */
const stale = 60_000

interface Answered {
  account: AccountId
  answer: OffersAnswer
  offers: readonly ListedOffer[]
}

/** What the market was seen to offer, for anyone who asks what something costs now: each search is made once a minute. */
export class SeenPrices {
  problem: Problem | undefined = $state.raw()
  #answers: ReadonlyMap<string, Answered> = $state.raw(new Map())
  /** When each search was made last, and its answer. */
  readonly #asked = new Map<string, { at: number; answered: Promise<void> }>()
  readonly #page: Page

  constructor(page: Page) {
    this.#page = page
  }

  /**
   * Asks the market unless it was asked of late; then waits for that answer. Where the service lists only some of its
   * offers, it's asked once more for those that pass the filter, which may be none of the first ones.
   */
  async search(query: OfferQuery, filter?: OfferFilter): Promise<void> {
    await this.#ask(query)
    if (filter && this.seen(query)?.answer.cap !== undefined) await this.#ask(query, filter)
  }

  async #ask(query: OfferQuery, filter?: OfferFilter): Promise<void> {
    const account = this.#page.account?.id
    if (account === undefined) return
    const key = keyOf(account, query, filter)
    const last = this.#asked.get(key)
    if (last && Date.now() - last.at < stale) return last.answered
    const answered = this.#request(key, account, query, filter)
    this.#asked.set(key, { at: Date.now(), answered })
    return answered
  }

  async #request(
    key: string,
    account: AccountId,
    query: OfferQuery,
    filter: OfferFilter | undefined,
  ): Promise<void> {
    try {
      const answer = await this.#page.berth.searchOffers({ account, query, ...(filter && { filter }) })
      const answered = { account, answer, offers: catalogueOf(answer.offers, query.type).offers }
      this.#answers = new Map([...this.#answers, [key, answered]])
      this.problem = undefined
    } catch (error) {
      this.#asked.delete(key)
      this.problem = answerProblem(error)
    }
  }

  /** What was seen last of a search on the account that is shown; undefined before that. */
  seen(query: OfferQuery): Answered | undefined {
    return this.#answers.get(keyOf(this.#page.account?.id ?? '', query))
  }

  /** The offers of a search with its filter, the cheapest first; undefined before it was made. */
  matching({ query, filter }: SavedQuery): ListedOffer[] | undefined {
    const first = this.seen(query)
    const account = this.#page.account?.id ?? ''
    const answered =
      first?.answer.cap === undefined ? first : this.#answers.get(keyOf(account, query, filter))
    return answered && cheapestFirst(offersPassing(answered.offers, filter))
  }
}

export function cheapestFirst(offers: readonly ListedOffer[]): ListedOffer[] {
  return offers.filter(({ price }) => price !== undefined).sort((a, b) => (a.price ?? 0) - (b.price ?? 0))
}

function keyOf(account: AccountId, query: OfferQuery, filter: OfferFilter = {}): string {
  const inOrder = (fields: object) => Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1))
  return JSON.stringify([account, inOrder(query), inOrder(filter)])
}

const all = new WeakMap<Page, SeenPrices>()

/** The page's one memory of what things cost. */
export function seenPricesOf(page: Page): SeenPrices {
  const seenPrices = all.get(page) ?? new SeenPrices(page)
  all.set(page, seenPrices)
  return seenPrices
}
