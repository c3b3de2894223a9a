import type { AccountId } from '#contract/ids.ts'
import type { OfferView } from '#contract/market/offer.ts'

/** The offers of each account's latest search. A rental takes its offer's data from here, not from the page. */
export interface SeenOffers {
  remember(account: AccountId, offers: readonly OfferView[]): void
  get(account: AccountId, offer: number): OfferView | undefined
}

export function createSeenOffers(): SeenOffers {
  const latest = new Map<AccountId, ReadonlyMap<number, OfferView>>()
  return {
    remember(account, offers) {
      latest.set(account, new Map(offers.map(offer => [offer.id, offer])))
    },
    get: (account, offer) => latest.get(account)?.get(offer),
  }
}
