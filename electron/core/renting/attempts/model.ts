import * as v from 'valibot'
import { AttemptLimits, AttemptSearch, AttemptSeriesId } from '#contract/automation/attempts.ts'
import { InstanceId, OfferId, RentalId } from '#contract/ids.ts'
import { OpenRequest } from '#contract/market/rental.ts'
import type { Micros } from '#contract/spending/money.ts'
import { StoredProblem } from '#core/app/problems.ts'
import { StoredOffer } from '../rentals/model.ts'

/** Why an attempt is dropped. */
export const Drop = v.object({
  why: StoredProblem,
  /** Epoch seconds of the account's time. */
  at: v.number(),
  /** Whether its machine counts as failed. */
  blame: v.boolean(),
  /** Whether no other attempt follows. */
  last: v.boolean(),
})
export type Drop = v.InferOutput<typeof Drop>

/** A machine that is tried: a rental that belongs to the series of attempts. */
export const Attempt = v.object({
  rental: RentalId,
  offer: StoredOffer,
  startedAt: v.number(),
  /** When it was first seen running. */
  runningAt: v.optional(v.number()),
  instance: v.optional(InstanceId),
  /** Stored before the instance is destroyed. */
  drop: v.optional(Drop),
  /** Its cost at its last view: `micros` at `at`, growing by `perHour`. */
  spent: v.optional(v.object({ micros: v.number(), at: v.number(), perHour: v.number() })),
  /** Its final cost. An attempt without it is in progress. */
  cost: v.optional(v.number()),
  endedAt: v.optional(v.number()),
})
export type Attempt = v.InferOutput<typeof Attempt>

/** A series of attempts as stored. Secret values are not in it: they are in the keychain, under its id. */
export const AttemptSeries = v.object({
  id: AttemptSeriesId,
  search: AttemptSearch,
  request: OpenRequest,
  limits: AttemptLimits,
  /** The offer to try first, while it fits. */
  first: v.optional(OfferId),
  step: v.picklist(['trying', 'ready', 'failed', 'cancelled']),
  attempts: v.array(Attempt),
  startedAt: v.number(),
  endedAt: v.optional(v.number()),
  /** It was cancelled: the present attempt is undone, and no other follows. */
  unwanted: v.optional(v.boolean()),
  /** Cancelled by its recovery, or the user's cancelling was handled: no sign of what the user wants next. */
  needless: v.optional(v.boolean()),
  /** The instance that is ready, or that is kept although the series failed. */
  instance: v.optional(InstanceId),
  problem: v.optional(StoredProblem),
  /** The instance that it replaces, for a recovery. */
  replaces: v.optional(InstanceId),
  dismissed: v.optional(v.boolean()),
})
export type AttemptSeries = v.InferOutput<typeof AttemptSeries>

/** The present attempt, whose final cost is not known yet. */
export function openAttempt({ attempts }: Pick<AttemptSeries, 'attempts'>): Attempt | undefined {
  return attempts.find(({ cost }) => cost === undefined)
}

/** The cost of all finished attempts. */
export function spentOn({ attempts }: Pick<AttemptSeries, 'attempts'>): Micros {
  return attempts.reduce((sum, { cost }) => sum + (cost ?? 0), 0)
}

/** What an attempt has cost up to a moment of the account's time; nothing if no instance was created. */
export function attemptsCostBy({ spent }: Pick<Attempt, 'spent'>, at: number): Micros {
  if (!spent) return 0
  return spent.micros + Math.max(0, Math.floor(((at - spent.at) * spent.perHour) / 3600))
}
