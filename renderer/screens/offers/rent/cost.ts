import type { OfferView } from '../../../../electron/contract/market/offer.ts'
import { type Micros, micros } from '../../../../electron/contract/spending/money.ts'

/** What a rental will cost, in micro-dollars per hour. */
export interface RentalCost {
  /** Disk included. */
  perHour: Micros
  /** What the disk alone costs, also while the machine is stopped; undefined when the service does not say. */
  diskPerHour: Micros | undefined
}

/**
 * The cost of an offer with another disk than the one its price includes.
 * @param pricedDisk GB that `offer.price` and `offer.storagePrice` are for
 * @param disk GB wanted
 * @param bid dollars per hour, for an interruptible rental
 */
export function rentalCost(
  offer: OfferView,
  pricedDisk: number,
  disk: number,
  bid: number | undefined,
): RentalCost | undefined {
  const { storagePrice } = offer
  const diskPerHour = storagePrice === undefined ? undefined : Math.round((storagePrice / pricedDisk) * disk)
  const machine = bid === undefined ? onDemandPrice(offer) : micros(bid)
  if (machine === undefined) return undefined
  return { perHour: machine + (diskPerHour ?? 0), diskPerHour }
}

function onDemandPrice(offer: OfferView): Micros | undefined {
  return offer.price === undefined ? undefined : offer.price - (offer.storagePrice ?? 0)
}

/** Seconds the credit will last once this is rented too; undefined when the credit is not known. */
export function creditWouldLast(
  credit: Micros | undefined,
  spendPerHour: Micros,
  perHour: Micros,
): number | undefined {
  const together = spendPerHour + perHour
  if (credit === undefined || together <= 0) return undefined
  return Math.max(0, (credit / together) * 3600)
}

/** A bid just above the lowest that runs now, in dollars per hour: 1 % more, at least a tenth of a cent, within 0.001 to 32. */
export function suggestedBid(minimumBid: Micros | undefined): number {
  const lowest = minimumBid ?? 0
  const above = Math.max(lowest * 1.01, lowest + 1000)
  return Math.min(32, Math.max(1, Math.ceil(above / 1000)) / 1000)
}
