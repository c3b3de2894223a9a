import type { offerCommands as declared } from '#contract/commands/market/offers.ts'
import type { HandlersOf } from '#core/app/page/dispatcher.ts'
import { needingPermission } from '#core/app/permission.ts'
import { findOffers } from '#core/market/find-offers.ts'
import { tellingUnread } from '#core/state/unread.ts'
import type { Parts } from '../parts.ts'

type OfferCommands = HandlersOf<typeof declared>

/** Milliseconds: a search of the whole market has a large answer. */
const searchTimeout = 45_000

export function offerHandlers(parts: Parts): OfferCommands {
  const { accounts, machine, searches, recentSearches, seenOffers, store } = parts
  return {
    async searchOffers({ account, query, filter = {}, maxAge }, { withdrawn }) {
      const session = accounts.session(account)
      const market = recentSearches.market(session.id, session.client.offers, maxAge)
      const searching = tellingUnread(store, session.id, 'offers', options =>
        findOffers(market, query, filter, { ...options, timeout: searchTimeout, withdrawn }),
      )
      const { offers, cap } = await needingPermission('misc', searching)
      seenOffers.remember(session.id, offers)
      const limited = cap !== undefined || offers.length >= query.limit
      return { offers, at: machine.clock.now() - market.age, limited, cap }
    },
    saveSearch: ({ name, search }) => searches.save(name, search),
    deleteSearch: ({ id }) => searches.delete(id),
  }
}
