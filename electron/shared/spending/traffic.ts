import type { Micros } from './money.ts'

/** Dollars per GB of traffic; absent if the service does not say. */
export interface TrafficPrices {
  upCost?: number
  downCost?: number
}

/** Dollars per GB in the dearer direction; 0 where it is free or unknown. */
export function dearerWay({ upCost = 0, downCost = 0 }: TrafficPrices): number {
  return Math.max(upCost, downCost)
}

/** The prices of an instance's traffic, and its measured cost. */
export interface InstanceTraffic extends TrafficPrices {
  /** KiB sent and received, as the service counts them. */
  up?: number
  down?: number
  /** The time of these counts, epoch seconds of the account's time. */
  at?: number
  /** The traffic's cost since Berth measures it: a part of the instance's `spent`. */
  spent?: Micros
  /** The recent average cost per hour. */
  perHour?: Micros
  /** The renter's expectation per hour in its first day; absent after that, and once traffic was charged. */
  expectedPerHour?: Micros
}
