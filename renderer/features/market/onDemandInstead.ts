import type { InstanceView } from '#shared/instance/instance.ts'
import type { ListedOffer } from '#shared/market/catalogue.ts'
import type { SavedQuery } from '#shared/market/offer-query.ts'
import type { Micros } from '#shared/spending/money.ts'
import { onDemandPrice } from './cost.ts'
import { usualFilter } from './rentDefaults.ts'

/** The market's search for what is rented on demand with the instance's GPUs; undefined where these are unknown. */
export function onDemandLike(
  { gpu }: Pick<InstanceView, 'gpu'>,
  query: SavedQuery['query'],
): SavedQuery | undefined {
  if (!gpu) return undefined
  return { query, filter: { ...usualFilter, gpus: [gpu.name], countFrom: gpu.count, countTo: gpu.count } }
}

/** Of offers, the cheapest first, the one that costs on demand what a bid does, or less. Without the disk. */
export function insteadOfBid(
  offers: readonly ListedOffer[],
  bid: Micros,
): { offer: number; price: Micros } | undefined {
  const [cheapest] = offers
  const price = cheapest && onDemandPrice(cheapest.offer)
  return cheapest && price !== undefined && price <= bid ? { offer: cheapest.offer.id, price } : undefined
}
