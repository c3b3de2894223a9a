import * as v from 'valibot'
import { BidPrice } from '../market/rental.ts'
import type { Problem } from '../problem.ts'
import type { Micros } from '../spending/money.ts'
import { AttemptLimits } from './attempts.ts'

/** Seconds between two acts on one instance, at the least. */
const Floor = v.pipe(
  v.number('give the least time between two'),
  v.minValue(30, 'at least 30 seconds'),
  v.maxValue(604_800, 'at most 7 days'),
)

/** What Berth does by itself when an interruptible instance is outbid. */
export const RecoveryChoice = v.variant('kind', [
  v.object({ kind: v.literal('tell') }),
  /** Bids just above the lowest that runs, up to `ceiling` dollars per hour. */
  v.object({ kind: v.literal('raise'), ceiling: BidPrice, every: Floor }),
  /** Rents the best offer like it for a bid up to `ceiling`, and stops the one that was outbid. */
  v.object({
    kind: v.literal('replace'),
    ceiling: BidPrice,
    every: Floor,
    limits: v.omit(AttemptLimits, ['price']),
  }),
])
export type RecoveryChoice = v.InferOutput<typeof RecoveryChoice>

/**
 * watching: nothing to do. waiting: it is outbid, and the floor on how often is not over. raising: a bid was sent.
 * replacing: a series of attempts is under way. held: it is outbid and nothing can be done within what was chosen;
 * `problem` says why. replaced: another instance has taken its place.
 */
export type RecoveryStep = 'watching' | 'waiting' | 'raising' | 'replacing' | 'held' | 'replaced'

export interface RecoveryView {
  choice: RecoveryChoice
  step: RecoveryStep
  /** Until when it waits; epoch seconds of the account's time. */
  until?: number
  problem?: Problem
  raises: number
  /** What the raises have added so far: `micros` at `at`, growing by `perHour`. */
  added: { micros: Micros; at: number; perHour: Micros }
  replacements: number
  /** What replacements have cost that are gone or were dropped, earlier ones of this instance included. */
  replaced: Micros
  /** The instance that has its place now, and the one whose place it took. */
  by?: number
  of?: number
  attemptSeries?: string
}
