import type { Micros } from './money.ts'

/** Dollars per GB of traffic, where the service tells. */
export interface TrafficPrices {
  upCost?: number
  downCost?: number
}

/** What traffic costs an instance, and has cost it as far as it is measured. */
export interface InstanceTraffic extends TrafficPrices {
  /** KiB sent and received, as the service counts them. */
  up?: number
  down?: number
  /** When they were told last, epoch seconds of the account's time. */
  at?: number
  /** What was charged for it while Berth watched: part of what the instance has spent. */
  spent?: Micros
  /** What it came to per hour of late, on average. */
  perHour?: Micros
  /** What its renter expects per hour of its first day; absent once any was charged for, or that day is over. */
  expectedPerHour?: Micros
}
