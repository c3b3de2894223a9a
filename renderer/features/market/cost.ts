import { type Limit, leastDollars } from '#shared/automation/limit.ts'
import { conditionLabel } from '#shared/automation/limit-words.ts'
import type { OfferView } from '#shared/market/offer.ts'
import { type Micros, micros } from '#shared/spending/money.ts'
import type { TrafficPrices } from '#shared/spending/traffic.ts'

/** A rental's expected cost, in micro-dollars per hour. */
export interface RentalCost {
  /** Disk included. */
  perHour: Micros
  /** The cost of the disk alone, also while the machine is stopped; undefined if the service does not report it. */
  diskPerHour: Micros | undefined
  /** Of a new volume, beside that: no limit counts it, and it's billed until it is deleted. */
  volumePerHour?: Micros
}

/** With a new volume, in micro-dollars per hour. */
export function withVolume({ perHour, volumePerHour = 0 }: RentalCost): Micros {
  return perHour + volumePerHour
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
  const diskPerHour = diskPrice(offer, pricedDisk, disk)
  const machine = bid === undefined ? onDemandPrice(offer) : micros(bid)
  if (machine === undefined) return undefined
  return { perHour: machine + (diskPerHour ?? 0), diskPerHour }
}

/** Dollars per GB and month of 720 hours make the price, else the share of the priced disk's cost. */
function diskPrice(
  { storageCost, storagePrice }: OfferView,
  pricedDisk: number,
  disk: number,
): Micros | undefined {
  if (storageCost !== undefined) return micros((storageCost * disk) / 720)
  return storagePrice === undefined ? undefined : Math.round((storagePrice / pricedDisk) * disk)
}

/** The cost of a rental's first hours, line by line, in micro-dollars. */
export interface FirstHours {
  gpus: Micros
  /** Undefined when the service does not say. */
  disk: Micros | undefined
  /** The traffic that is expected, once; undefined where it has no price. */
  traffic: Micros | undefined
  total: Micros
}

/** Default traffic of a rental in GB: an image and data there, some results back. */
export const usualTraffic = { down: 20, up: 2 }

/**
 * The one-time cost of a rental's traffic; undefined without a price. @param expected GB: at the higher of the two
 * prices, as the direction is unknown
 */
export function trafficOnce(
  { upCost = 0, downCost = 0 }: TrafficPrices,
  expected: number | undefined,
): Micros | undefined {
  if (upCost === 0 && downCost === 0) return undefined
  if (expected !== undefined) return micros(expected * Math.max(upCost, downCost))
  return micros(usualTraffic.down * downCost + usualTraffic.up * upCost)
}

/** @param traffic its one-time cost in micro-dollars */
export function firstHours(cost: RentalCost, hours: number, traffic: Micros | undefined): FirstHours {
  const { perHour, diskPerHour } = cost
  return {
    gpus: (perHour - (diskPerHour ?? 0)) * hours,
    disk: diskPerHour === undefined ? undefined : diskPerHour * hours,
    traffic,
    total: withVolume(cost) * hours + (traffic ?? 0),
  }
}

/** The most that a rental costs until a limit stops it, in micro-dollars, and that limit: `3 h`, `$20`. */
export interface MostCost {
  micros: Micros
  limit: string
}

/**
 * The most until the first limit with a time or an amount, a new volume included; undefined without one. @param traffic its
 * one-time cost in micro-dollars @param count how many machines have these limits, whose prices are in `cost` together
 * @param attempts micro-dollars that may be spent on machines that were dropped before
 */
export function mostCost(
  cost: RentalCost,
  traffic: Micros | undefined,
  limits: readonly Limit[],
  count: number,
  attempts: Micros = 0,
): MostCost | undefined {
  const { perHour, volumePerHour = 0 } = cost
  const each = limits.flatMap(({ when }): MostCost[] => {
    const limit = conditionLabel(when)
    if (when.kind === 'duration')
      return [{ micros: Math.ceil((withVolume(cost) * when.seconds) / 3600) + (traffic ?? 0), limit }]
    if (when.kind !== 'cost') return []
    const own = micros(when.dollars) * count
    return [{ micros: own + Math.ceil((own / Math.max(perHour, 1)) * volumePerHour), limit }]
  })
  const [first] = each.sort((a, b) => a.micros - b.micros)
  return first && { ...first, micros: first.micros + attempts }
}

/**
 * The limits of a rental, of which one on the time also holds what is shown until then. @param shown the cost and the traffic
 * of all `count` machines; absent where none is shown
 */
export function withMost(
  limits: readonly Limit[],
  shown: { cost: RentalCost; traffic: Micros | undefined; count: number } | undefined,
): Limit[] {
  return limits.map(({ when, action, asleep }) => {
    const limit = { when, action, asleep }
    if (!shown || when.kind !== 'duration') return limit
    const { cost, traffic = 0, count } = shown
    const whole = Math.ceil(((cost.perHour * when.seconds) / 3600 + traffic) / 10_000) / 100
    const apart = traffic / 1_000_000
    return {
      ...limit,
      most: { dollars: Math.max(leastDollars, (whole - apart) / count), traffic: apart / count },
    }
  })
}

export function onDemandPrice(offer: OfferView): Micros | undefined {
  return offer.price === undefined ? undefined : offer.price - (offer.storagePrice ?? 0)
}
