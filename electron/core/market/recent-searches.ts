import type { Clock } from '#platform/platform.ts'
import type { UnreadRecord } from '#service/http/answer.ts'
import type { CallOptions } from '#service/http/operation.ts'
import type { Offer, Offers } from '#service/offers.ts'
import type { AccountId } from '#shared/ids.ts'
import type { OfferView } from '#shared/market/offer.ts'
import type { Spender } from '#shared/spending/spender.ts'
import { mayBeCutOff } from './find-offers.ts'

/** Milliseconds for which an answer serves anyone who asks: the best-known deployment allows ten searches a minute. */
const alwaysServes = 6000
/** Milliseconds for which an answer may serve. */
const longestServes = 60_000

interface Answered {
  offers: Offer[]
  unread: readonly UnreadRecord[]
  /** Milliseconds of the monotonic clock. */
  at: number
}

/** The searches of one account, by their filters. */
interface Recent {
  pending: Map<string, Promise<Answered>>
  answers: Map<string, Answered>
}

/** One look at an account's market. */
export interface RecentMarket extends Pick<Offers, 'search'> {
  /** Milliseconds since the oldest answer that it was given. */
  readonly age: number
}

export type RecentSearches = ReturnType<typeof createRecentSearches>

/**
 * Recent answers to the page's searches, for services that truncate their lists: there each changed filter searches the
 * whole market. Complete lists are requested rarely, and never cached.
 */
export function createRecentSearches(clock: Pick<Clock, 'monotonic'>) {
  const now = () => clock.monotonic()
  const accounts = new Map<AccountId, Recent>()

  function recentOf(account: AccountId): Recent {
    const recent = accounts.get(account) ?? { pending: new Map(), answers: new Map() }
    accounts.set(account, recent)
    for (const [search, { at }] of recent.answers)
      if (now() - at > longestServes) recent.answers.delete(search)
    return recent
  }

  function ask(
    { pending, answers }: Recent,
    key: string,
    limit: number | undefined,
    searching: (options: CallOptions) => Promise<Offer[]>,
  ): Promise<Answered> {
    let unread: readonly UnreadRecord[] = []
    const onUnread = (records: readonly UnreadRecord[]) => {
      unread = records
    }
    const asking = searching({ onUnread }).then(offers => {
      const answer = { offers, unread, at: now() }
      if (mayBeCutOff(offers, limit)) answers.set(key, answer)
      return answer
    })
    pending.set(key, asking)
    const forget = () => pending.get(key) === asking && pending.delete(key)
    asking.then(forget, forget)
    return asking
  }

  return {
    /** The market as the service lists it, or did up to `maxAge` milliseconds ago; a few seconds count as now. */
    market(account: AccountId, service: Pick<Offers, 'search'>, maxAge: number = 0): RecentMarket {
      const recent = recentOf(account)
      let oldest = Number.POSITIVE_INFINITY
      return {
        get age() {
          return Math.max(0, now() - oldest)
        },
        async search(query, options) {
          const key = JSON.stringify(query)
          const asking = recent.pending.get(key)
          // Anyone who asks for the same now may withdraw it.
          const answering = asking && (await asking.catch(() => undefined))
          const known = answering ?? recent.answers.get(key)
          const serves = known && now() - known.at <= Math.max(alwaysServes, maxAge)
          const answer = serves
            ? known
            : await ask(recent, key, query.limit, own => service.search(query, { ...options, ...own }))
          oldest = Math.min(oldest, answer.at)
          options?.onUnread?.(answer.unread)
          return answer.offers
        },
      }
    },
    /** The account rented, which makes it another market. */
    forget: (account: AccountId): void => void accounts.delete(account),
  }
}

export type SeenOffers = ReturnType<typeof createSeenOffers>

/**
 * The offers of each account's latest search, of the page or of an agent or script. A rental takes its offer's data from
 * here, not from the page.
 */
export function createSeenOffers() {
  const latest = new Map<string, ReadonlyMap<number, OfferView>>()
  return {
    remember(account: AccountId, offers: readonly OfferView[], by?: Spender): void {
      latest.set(`${account}/${by ?? ''}`, new Map(offers.map(offer => [offer.id, offer])))
    },
    get: (account: AccountId, offer: number, by?: Spender): OfferView | undefined =>
      latest.get(`${account}/${by ?? ''}`)?.get(offer),
  }
}
