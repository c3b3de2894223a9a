import { answerProblem, type Page } from '#renderer/bridge/page.svelte.ts'
import type { AccountId } from '#shared/ids.ts'
import { catalogueOf, type ListedOffer } from '#shared/market/catalogue.ts'
import { offersPassing } from '#shared/market/filter.ts'
import type { OfferQuery, OffersAnswer, SavedQuery } from '#shared/market/offer.ts'
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
  readonly #asked = new Map<string, number>()
  readonly #page: Page

  constructor(page: Page) {
    this.#page = page
  }

  /** Asks the market unless it was asked of late. */
  async search(query: OfferQuery): Promise<void> {
    const account = this.#page.account?.id
    if (account === undefined) return
    const key = keyOf(account, query)
    if (Date.now() - (this.#asked.get(key) ?? 0) < stale) return
    this.#asked.set(key, Date.now())
    try {
      const answer = await this.#page.berth.searchOffers({ account, query })
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
    const answered = this.seen(query)
    return answered && cheapestFirst(offersPassing(answered.offers, filter))
  }
}

export function cheapestFirst(offers: readonly ListedOffer[]): ListedOffer[] {
  return offers.filter(({ price }) => price !== undefined).sort((a, b) => (a.price ?? 0) - (b.price ?? 0))
}

function keyOf(account: AccountId, query: OfferQuery): string {
  return JSON.stringify([account, Object.entries(query).sort(([a], [b]) => (a < b ? -1 : 1))])
}

const all = new WeakMap<Page, SeenPrices>()

/** The page's one memory of what things cost. */
export function seenPricesOf(page: Page): SeenPrices {
  const seenPrices = all.get(page) ?? new SeenPrices(page)
  all.set(page, seenPrices)
  return seenPrices
}
