import { needing } from '../../keys/permission.ts'
import { offerView, searchFor } from '../../offers/offer-view.ts'
import type { Handlers } from '../../page/dispatcher.ts'
import type { Parts } from '../parts.ts'

type OfferCommands = Pick<Handlers, 'searchOffers' | 'saveSearch' | 'deleteSearch'>

/** Milliseconds: a search over the whole market is a large answer. */
const searchTimeout = 45_000

export function offerCommands({ accounts, machine, searches, seenOffers }: Parts): OfferCommands {
  return {
    async searchOffers({ account, query }) {
      const session = accounts.session(account)
      const searching = session.client.offers.search(searchFor(query), { timeout: searchTimeout })
      const found = await needing('misc', searching)
      const offers = found.map(offerView)
      seenOffers.remember(session.id, offers)
      return { offers, at: machine.clock.now(), limited: offers.length >= query.limit }
    },
    saveSearch: ({ name, search }) => searches.save(name, search),
    deleteSearch: ({ id }) => searches.delete(id),
  }
}
