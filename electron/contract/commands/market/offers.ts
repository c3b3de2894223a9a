import * as v from 'valibot'
import { OfferFilter, OfferQuery, type OffersAnswer, SavedQuery } from '#contract/market/offer.ts'
import { account, command, name } from '../command.ts'

/** Finding machines. */
export const offerCommands = {
  /**
   * `filter` narrows the request if the service lists only some offers at a time. The answer is not filtered by it. What
   * the service has listed up to `maxAge` milliseconds ago is not asked for again.
   */
  searchOffers: command({
    account,
    query: OfferQuery,
    filter: v.optional(OfferFilter),
    maxAge: v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(60_000))),
  }).answers<OffersAnswer>(),
  saveSearch: command({ name, search: SavedQuery }).answers<string>(),
  deleteSearch: command({ id: v.pipe(v.string(), v.maxLength(64)) }).answers<void>(),
}
