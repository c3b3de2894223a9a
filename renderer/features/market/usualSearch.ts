import type { OfferFilter, OfferQuery, OfferView } from '#contract/market/offer.ts'
import type { AccountView } from '#contract/state.ts'
import { usualDisk } from './rentDefaults.ts'

/** As many offers as the page asks for. */
export const mostOffers = 10_000

/** What a search begins with: all GPUs of verified hosts, with the disk that was rented last. */
export function usualQuery(account: AccountView | undefined): OfferQuery {
  return { type: 'on-demand', verifiedOnly: true, storage: usualDisk(account), limit: mostOffers }
}

const leastReliable = 0.98

/** Reliable hosts: shown to those who have not looked for anything yet, and again after a reset. */
export const usualFilter: OfferFilter = { reliabilityFrom: leastReliable }

/** Whether a market has any of that. */
export function hasUsual(offers: readonly OfferView[]): boolean {
  return offers.some(({ reliability }) => reliability !== undefined && reliability >= leastReliable)
}
