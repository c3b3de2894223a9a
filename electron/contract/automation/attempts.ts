import * as v from 'valibot'
import { OfferFilter, OfferQuery } from '../market/offer.ts'
import type { RentalView } from '../market/rental.ts'
import { sortColumns } from '../market/sort.ts'
import type { Problem } from '../problem.ts'
import type { Micros } from '../spending/money.ts'

/** A series of attempts of Berth's own making: `f` and sixteen hexadecimal digits. */
export const AttemptSeriesId = v.pipe(v.string(), v.regex(/^f[0-9a-f]{16}$/, 'not a series of attempts'))

/** How far a series of attempts may go before it gives up. */
export const AttemptLimits = v.object({
  /** Machines that are tried at the most, offers that were gone included. */
  attempts: v.pipe(
    v.number('give a number of attempts'),
    v.integer('a whole number of attempts'),
    v.minValue(1, 'at least one attempt'),
    v.maxValue(20, 'at most 20 attempts'),
  ),
  /** Dollars that all attempts together may cost before one is in. */
  ceiling: v.pipe(
    v.number('give what the attempts may cost'),
    v.minValue(0.01, 'at least $0.01'),
    v.maxValue(1000, 'at most $1,000'),
  ),
  /** Seconds that one attempt may take until it can be entered. */
  deadline: v.pipe(
    v.number('give the minutes that an attempt may take'),
    v.minValue(60, 'at least a minute'),
    v.maxValue(7200, 'at most two hours'),
  ),
  /** Dollars per hour, disk included: dearer offers are passed over. Not asked of a bid, which is its own limit. */
  price: v.optional(
    v.pipe(
      v.number('give a price per hour'),
      v.minValue(0.001, 'at least $0.001 per hour'),
      v.maxValue(1000, 'at most $1,000 per hour'),
    ),
  ),
})
export type AttemptLimits = v.InferOutput<typeof AttemptLimits>

/** Where the offers of a series of attempts come from, and which of them is the best. */
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
 * searching: the market is asked for the next offer. renting: an instance is asked for. booting: it is created and not
 * running. entering: it runs, and SSH does not answer yet. dropping: an attempt is being destroyed. ready: it can be
 * entered. failed and cancelled: nothing is left of it, unless `kept` says so.
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

/** One machine that was, or is being, tried. */
export interface AttemptView {
  rental: string
  offer: RentalView['offer']
  machineId?: number
  instance?: number
  /** Epoch seconds of the account's time. */
  startedAt: number
  /** Why it was dropped. */
  why?: Problem
  /** What it cost in the end, once it is gone. */
  cost?: Micros
}

export interface AttemptSeriesView {
  id: string
  step: AttemptSeriesStep
  /** Oldest first; the last one is under way unless it has a `why`. */
  attempts: readonly AttemptView[]
  most: number
  /** What dropped attempts have cost, and what they may cost together. */
  spent: Micros
  ceiling: Micros
  /** Seconds an attempt may take. */
  deadline: number
  startedAt: number
  /** Since when it is at this step; epoch seconds of the account's time. */
  since: number
  image: string
  template?: string
  label?: string
  interruptible: boolean
  /** Whether SSH must answer, or running is enough. */
  entered: boolean
  /** The instance that is under way, that is ready, or that is kept though the series of attempts failed. */
  instance?: number
  /** The instance that it takes the place of, where a recovery asked for it. */
  replaces?: number
  /** Cancelled by the user: what is there goes. */
  cancelling: boolean
  /** Why it failed; while it is under way, what keeps it waiting. */
  problem?: Problem
  /** The answer to a creation was lost, and which of these instances is the one the user must say. */
  candidates?: readonly number[]
}

/** A machine on which a rental came to nothing, or died soon after it ran. It is offered last from then on, until it is forgiven. */
export interface FailedMachineView {
  machineId: number
  hostId?: number
  times: number
  /** Epoch seconds of the account's time. */
  lastAt: number
  why: string
}

/** Whether something is still to be done for it. */
export function isTrying({ step }: Pick<AttemptSeriesView, 'step'>): boolean {
  return step !== 'ready' && step !== 'failed' && step !== 'cancelled'
}
