import * as v from 'valibot'
import { OfferQuery, type OffersAnswer, SavedQuery } from '../../market/offer.ts'
import { account, command, name } from '../command.ts'

/** Finding machines. */
export const offerCommands = {
  searchOffers: command({ account, query: OfferQuery }).answers<OffersAnswer>(),
  saveSearch: command({ name, search: SavedQuery }).answers<string>(),
  deleteSearch: command({ id: v.pipe(v.string(), v.maxLength(64)) }).answers<void>(),
}
