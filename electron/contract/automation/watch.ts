import * as v from 'valibot'
import type { OfferView } from '../market/offer.ts'
import { OpenRequest } from '../market/rental.ts'
import type { Problem } from '../problem.ts'
import type { Micros } from '../spending/money.ts'
import { AttemptLimits, AttemptSearch } from './attempts.ts'
import type { RunRequest } from './run.ts'

/** A watch of Berth's own making: `w` and sixteen hexadecimal digits. */
export const WatchId = v.pipe(v.string(), v.regex(/^w[0-9a-f]{16}$/, 'not a watch'))

/** What a watch may rent by itself. */
export const WatchRents = v.object({
  request: OpenRequest,
  limits: AttemptLimits,
  /** Machines in all; then the watch has done what it was for. */
  most: v.pipe(
    v.number('give a number of machines'),
    v.integer('a whole number of machines'),
    v.minValue(1, 'at least one machine'),
    v.maxValue(20, 'at most 20 machines'),
  ),
})
export type WatchRents = v.InferOutput<typeof WatchRents>

/** A search of the market that is made again and again. */
export const WatchRequest = v.object({
  name: v.pipe(v.string(), v.trim(), v.nonEmpty('give it a name'), v.maxLength(64, 'at most 64 characters')),
  search: AttemptSearch,
  /** Minutes of the account's time between searches. */
  every: v.pipe(
    v.number('give a number of minutes'),
    v.integer('whole minutes'),
    v.minValue(1, 'at least a minute'),
    v.maxValue(1440, 'at most a day'),
  ),
  rents: v.optional(WatchRents),
})
export type WatchRequest = v.InferOutput<typeof WatchRequest>

/** What is run on each machine that a watch rents. `into` is where fetched files go, as people read it. */
export type WatchRun = Omit<RunRequest, 'name'> & { name: string }

export interface WatchView extends WatchRequest {
  id: string
  paused: boolean
  /** It paused by itself, and its prices are still noted, at most once an hour. */
  notesPrices: boolean
  /** When the market was searched last, epoch seconds of the account's time. */
  searchedAt?: number
  /** Offers that matched then, and the cheapest of them. */
  matching: number
  best?: OfferView
  /** Why the last search gave no answer, or why it rents no more. */
  problem?: Problem
  /** What keeps it from renting what matches for now, such as a guard. */
  waits?: Problem
  run?: WatchRun
  /** Machines that it has rented. */
  rented: number
  /** It is renting another one. */
  renting: boolean
}

/** What the offers of a watch cost at a search: micro-dollars per hour. */
export interface PriceSample {
  /** Epoch seconds of the account's time. */
  at: number
  count: number
  lowest: Micros
  /** A quarter is cheaper, half is, a quarter is dearer. */
  low: Micros
  middle: Micros
  high: Micros
}
