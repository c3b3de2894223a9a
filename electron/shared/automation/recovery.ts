import * as v from 'valibot'
import { InstanceId, RentalId } from '../ids.ts'
import { BidPrice, RetryLimits } from '../market/rental-bounds.ts'
import type { Problem } from '../problem.ts'

/** The least seconds between two actions on one instance. */
const Floor = v.pipe(
  v.number('enter the least time between two'),
  v.minValue(30, 'at least 30 seconds'),
  v.maxValue(604_800, 'at most 7 days'),
)

/** Berth's automatic reaction when an interruptible instance is outbid. */
export const RecoveryChoice = v.variant('kind', [
  v.object({ kind: v.literal('tell') }),
  /** Bids just above the lowest bid that runs, up to `ceiling` dollars per hour. */
  v.object({ kind: v.literal('raise'), ceiling: BidPrice, every: Floor }),
  /** Rents the best similar offer with a bid up to `ceiling`, and stops the outbid instance. */
  v.object({
    kind: v.literal('replace'),
    ceiling: BidPrice,
    every: Floor,
    limits: v.omit(RetryLimits, ['price']),
  }),
])
export type RecoveryChoice = v.InferOutput<typeof RecoveryChoice>

/** What is filled in first: seconds between two actions, and the limits of the attempts to move, in dollars and seconds. */
export const usualRecovery = { every: 600, limits: { attempts: 3, ceiling: 0.5, deadline: 600 } } as const

/** The highest bid that is filled in first, dollars per hour: half as much again as the present one. */
export function usualCeiling(bid: number): number {
  return Math.min(32, Math.max(0.001, Math.ceil(bid * 150) / 100))
}

/**
 * watching: nothing to do. waiting: it is outbid, and the least time since the last action has not passed. raising: a
 * bid was sent. replacing: another is being rented. held: it is outbid, and the choice allows nothing;
 * `problem` says why. replaced: another instance has taken its place.
 */
export type RecoveryStep = 'watching' | 'waiting' | 'raising' | 'replacing' | 'held' | 'replaced'

/** A recovery as stored and shown. Micro-dollars. */
export const RecoveryFields = v.object({
  choice: RecoveryChoice,
  raises: v.number(),
  /** The additional cost of raises: `micros` at `at`, growing by `perHour`. */
  addedCost: v.object({ micros: v.number(), at: v.number(), perHour: v.number() }),
  replacements: v.number(),
  /** The cost of replacements that are gone, dropped tries included. */
  replacedCost: v.number(),
  /** Its replacement, and the instance it replaced. */
  by: v.optional(InstanceId),
  of: v.optional(InstanceId),
  /** The rental of its replacement. */
  rental: v.optional(RentalId),
})

export interface RecoveryView extends v.InferOutput<typeof RecoveryFields> {
  step: RecoveryStep
  /** The end of waiting; epoch seconds of the account's time. */
  until?: number
  problem?: Problem
}
