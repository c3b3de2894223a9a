import * as v from 'valibot'
import { OfferFilter, OfferQuery, type OffersAnswer, SavedQuery } from '../../market/offer.ts'
import { account, command, name } from '../command.ts'

/** Finding machines. */
export const offerCommands = {
  /** `filter` narrows the request if the service lists only some offers at a time. The answer is not filtered by it. */
  searchOffers: command({
    account,
    query: OfferQuery,
    filter: v.optional(OfferFilter),
  }).answers<OffersAnswer>(),
  saveSearch: command({ name, search: SavedQuery }).answers<string>(),
  deleteSearch: command({ id: v.pipe(v.string(), v.maxLength(64)) }).answers<void>(),
}
