import type { ListedOffer } from '#contract/market/catalogue.ts'
import { type Micros, micros } from '#contract/spending/money.ts'
import { rentalCost } from '#renderer/features/market/cost.ts'

/** The price limit and the disk of a watch. */
export interface Terms {
  /** Dollars per hour: the highest price, or the highest bid. */
  most: number | undefined
  interruptible: boolean
  /** GB that the prices of the offers include, and GB that are rented. */
  pricedDisk: number
  disk: number
}

/** How many of these offers a watch would rent on these terms now, and the cheapest price of all on them. */
export function wouldRent(
  offers: readonly ListedOffer[],
  { most, interruptible, pricedDisk, disk }: Terms,
): { many: number; cheapest?: Micros } {
  const prices = offers.flatMap(({ price, offer }) => {
    const asked = interruptible
      ? (offer.minimumBid ?? price)
      : (rentalCost(offer, pricedDisk, disk, undefined)?.perHour ?? price)
    return asked ?? []
  })
  if (prices.length === 0) return { many: 0 }
  const many = most === undefined ? 0 : prices.filter(asked => asked <= micros(most)).length
  return { many, cheapest: Math.min(...prices) }
}
