import * as v from 'valibot'
import type { OfferView } from '../market/offer.ts'
import { OpenRequest, RentalSearch } from '../market/rent-request.ts'
import { RetryLimits } from '../market/rental-bounds.ts'
import type { Problem } from '../problem.ts'
import type { Micros } from '../spending/money.ts'
import type { RunRequest } from './run.ts'

/** The id of a watch: `w` and sixteen hexadecimal digits. */
export const WatchId = v.pipe(v.string(), v.regex(/^w[0-9a-f]{16}$/, 'not a watch'))

/** The request and the limits with which a watch rents automatically. */
export const WatchRents = v.object({
  request: OpenRequest,
  limits: RetryLimits,
  /** Machines in total; then the watch is done. */
  most: v.pipe(
    v.number('enter a number of machines'),
    v.integer('a whole number of machines'),
    v.minValue(1, 'at least one machine'),
    v.maxValue(20, 'at most 20 machines'),
  ),
})
export type WatchRents = v.InferOutput<typeof WatchRents>

/** A search of the market that is repeated. */
export const WatchRequest = v.object({
  name: v.pipe(v.string(), v.trim(), v.nonEmpty('enter a name'), v.maxLength(64, 'at most 64 characters')),
  search: RentalSearch,
  /** Minutes of the account's time between searches. */
  every: v.pipe(
    v.number('enter a number of minutes'),
    v.integer('whole minutes'),
    v.minValue(1, 'at least a minute'),
    v.maxValue(1440, 'at most a day'),
  ),
  rents: v.optional(WatchRents),
})
export type WatchRequest = v.InferOutput<typeof WatchRequest>

/** The run to start on each machine that a watch rents. `into`: the folder for downloads, as people write it. */
export type WatchRun = Omit<RunRequest, 'name'> & { name: string }

export interface WatchView extends WatchRequest {
  id: string
  paused: boolean
  /** It was paused by Berth, and continues to record prices, at most once an hour. */
  notesPrices: boolean
  /** When the market was searched last, epoch seconds of the account's time. */
  searchedAt?: number
  /** The number of offers that matched then, and the cheapest one. */
  matching: number
  best?: OfferView
  /** Why the last search failed, or why the watch stopped renting. */
  problem?: Problem
  /** Why it does not rent now, such as a limit. */
  waits?: Problem
  run?: WatchRun
  /** The number of machines it has rented. */
  rented: number
  /** Whether it is renting another machine. */
  renting: boolean
}

/** The prices of a watch's offers at one search: micro-dollars per hour. */
export interface PriceSample {
  /** Epoch seconds of the account's time. */
  at: number
  count: number
  lowest: Micros
  /** The quartiles. */
  low: Micros
  middle: Micros
  high: Micros
}
