import * as v from 'valibot'
import { OfferFilter, OfferQuery } from '../market/offer.ts'
import type { RentalView } from '../market/rental.ts'
import { sortColumns } from '../market/sort.ts'
import type { Problem } from '../problem.ts'
import type { Micros } from '../spending/money.ts'

/** The id of a series of attempts: `f` and sixteen hexadecimal digits. */
export const AttemptSeriesId = v.pipe(v.string(), v.regex(/^f[0-9a-f]{16}$/, 'not a series of attempts'))

/** The limits of a series of attempts. */
export const AttemptLimits = v.object({
  /** The most machines to try, counting offers that were gone. */
  attempts: v.pipe(
    v.number('give a number of attempts'),
    v.integer('a whole number of attempts'),
    v.minValue(1, 'at least one attempt'),
    v.maxValue(20, 'at most 20 attempts'),
  ),
  /** Dollars that all attempts together may cost until one is ready. */
  ceiling: v.pipe(
    v.number('give what the attempts may cost'),
    v.minValue(0.01, 'at least $0.01'),
    v.maxValue(1000, 'at most $1,000'),
  ),
  /** Seconds that one attempt may take until its instance is ready. */
  deadline: v.pipe(
    v.number('give the minutes that an attempt may take'),
    v.minValue(60, 'at least a minute'),
    v.maxValue(7200, 'at most two hours'),
  ),
  /** Dollars per hour, disk included: dearer offers are skipped. Not used with a bid, which is its own limit. */
  price: v.optional(
    v.pipe(
      v.number('give a price per hour'),
      v.minValue(0.001, 'at least $0.001 per hour'),
      v.maxValue(1000, 'at most $1,000 per hour'),
    ),
  ),
})
export type AttemptLimits = v.InferOutput<typeof AttemptLimits>

/** The search for a series' offers, and the order in which they are tried. */
export const AttemptSearch = v.object({
  query: OfferQuery,
  filter: OfferFilter,
  order: v.object({
    column: v.picklist(sortColumns),
    descending: v.boolean(),
  }),
})
export type AttemptSearch = v.InferOutput<typeof AttemptSearch>

/**
 * searching: for the next offer. renting: an instance is requested. booting: it is created and not running. entering:
 * it runs, and SSH does not answer yet. dropping: an attempt is being destroyed. ready: the instance can be used.
 * failed and cancelled: nothing is left, unless `instance` names one that is kept.
 */
export type AttemptSeriesStep =
  | 'searching'
  | 'renting'
  | 'booting'
  | 'entering'
  | 'dropping'
  | 'ready'
  | 'failed'
  | 'cancelled'

/** One machine that was tried, or is. */
export interface AttemptView {
  rental: string
  offer: RentalView['offer']
  machineId?: number
  instance?: number
  /** Epoch seconds of the account's time. */
  startedAt: number
  /** Why it was dropped. */
  why?: Problem
  /** Its final cost, once its instance is gone. */
  cost?: Micros
}

export interface AttemptSeriesView {
  id: string
  step: AttemptSeriesStep
  /** Oldest first; the last one is in progress unless it has a `why`. */
  attempts: readonly AttemptView[]
  most: number
  /** The cost of dropped attempts, and the limit for all. */
  spent: Micros
  ceiling: Micros
  /** Seconds an attempt may take. */
  deadline: number
  startedAt: number
  /** When this step began; epoch seconds of the account's time. */
  since: number
  image: string
  template?: string
  label?: string
  interruptible: boolean
  /** Whether SSH must answer, or running is enough. */
  entered: boolean
  /** The instance of the present attempt, or the one that is ready, or is kept although the series failed. */
  instance?: number
  /** The instance that it replaces, for a recovery. */
  replaces?: number
  /** Cancelled by the user: its instance is being destroyed. */
  cancelling: boolean
  /** Why it failed or, while it is in progress, why it waits. */
  problem?: Problem
  /** The answer to a creation was lost: the user must choose the right one of these instances. */
  candidates?: readonly number[]
}

/** A machine on which a rental failed, or died soon after it ran. It is listed last until it is forgiven. */
export interface FailedMachineView {
  machineId: number
  hostId?: number
  times: number
  /** Epoch seconds of the account's time. */
  lastAt: number
  why: string
}

/** Whether the series is in progress. */
export function isTrying({ step }: Pick<AttemptSeriesView, 'step'>): boolean {
  return step !== 'ready' && step !== 'failed' && step !== 'cancelled'
}
