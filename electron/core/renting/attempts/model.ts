import * as v from 'valibot'
import { AttemptLimits, AttemptSearch, AttemptSeriesId } from '../../../contract/automation/attempts.ts'
import { InstanceId, RentalId } from '../../../contract/ids.ts'
import { OpenRequest } from '../../../contract/market/rental.ts'
import type { Micros } from '../../../contract/spending/money.ts'
import { StoredProblem } from '../../app/problems.ts'
import { StoredOffer } from '../rentals/model.ts'

/** Why an attempt is dropped. */
export const Drop = v.object({
  why: StoredProblem,
  /** Epoch seconds of the account's time. */
  at: v.number(),
  /** Whether its machine is to be remembered for it. */
  blame: v.boolean(),
  /** No other is tried after it. */
  last: v.boolean(),
})
export type Drop = v.InferOutput<typeof Drop>

/** One machine that is tried: a rental that the series of attempts owns. */
export const Attempt = v.object({
  rental: RentalId,
  offer: StoredOffer,
  startedAt: v.number(),
  /** Since when it runs, as far as was seen. */
  runningAt: v.optional(v.number()),
  instance: v.optional(InstanceId),
  /** On disk before the instance is destroyed. */
  drop: v.optional(Drop),
  /** What it had cost when it was last seen: `micros` at `at`, growing by `perHour`. */
  spent: v.optional(v.object({ micros: v.number(), at: v.number(), perHour: v.number() })),
  /** What it cost in the end. An attempt without it is under way. */
  cost: v.optional(v.number()),
  endedAt: v.optional(v.number()),
})
export type Attempt = v.InferOutput<typeof Attempt>

/** A series of attempts as it is remembered. Secret values are not in it: they are in the keychain, under its id. */
export const AttemptSeries = v.object({
  id: AttemptSeriesId,
  search: AttemptSearch,
  request: OpenRequest,
  limits: AttemptLimits,
  step: v.picklist(['trying', 'ready', 'failed', 'cancelled']),
  attempts: v.array(Attempt),
  startedAt: v.number(),
  endedAt: v.optional(v.number()),
  /** It was cancelled: its attempt is taken back, and no other follows. */
  unwanted: v.optional(v.boolean()),
  /** Cancelled by what began it, or the user's cancelling is dealt with: it says nothing about what is wanted next. */
  needless: v.optional(v.boolean()),
  /** The instance that can be entered, or that is kept though the series of attempts failed. */
  instance: v.optional(InstanceId),
  problem: v.optional(StoredProblem),
  /** The instance whose place it takes, for a recovery. */
  replaces: v.optional(InstanceId),
  dismissed: v.optional(v.boolean()),
})
export type AttemptSeries = v.InferOutput<typeof AttemptSeries>

/** The attempt under way: the one whose instance is not yet gone and accounted for. */
export function openAttempt({ attempts }: Pick<AttemptSeries, 'attempts'>): Attempt | undefined {
  return attempts.find(({ cost }) => cost === undefined)
}

/** What finished attempts have cost. */
export function spentOn({ attempts }: Pick<AttemptSeries, 'attempts'>): Micros {
  return attempts.reduce((sum, { cost }) => sum + (cost ?? 0), 0)
}

/** What an attempt has cost up to a moment of the account's time; nothing if no instance was created. */
export function costBy({ spent }: Pick<Attempt, 'spent'>, at: number): Micros {
  if (!spent) return 0
  return spent.micros + Math.max(0, Math.floor(((at - spent.at) * spent.perHour) / 3600))
}
