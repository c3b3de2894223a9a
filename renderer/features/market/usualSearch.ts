import type { OfferFilter, OfferQuery, OfferView } from '../../../electron/contract/market/offer.ts'
import type { AccountView } from '../../../electron/contract/state.ts'
import { usualDisk } from './rentDefaults.ts'

/** As many offers as the page asks for. */
export const mostOffers = 10_000

/** What a search begins with: what people rent most, with the disk that was rented last. */
export function usualQuery(account: AccountView | undefined): OfferQuery {
  return { type: 'on-demand', verifiedOnly: true, storage: usualDisk(account), limit: mostOffers }
}

const usualGpus = ['H100 SXM', 'H100 NVL', 'H100 PCIE']

/** What people rent most for work that pays: shown to those who have not looked for anything yet. */
export const usualFilter: OfferFilter = { gpus: usualGpus }

/** Whether a market has any of that. */
export function hasUsual(offers: readonly OfferView[]): boolean {
  return offers.some(({ gpuName }) => gpuName !== undefined && usualGpus.includes(gpuName))
}
