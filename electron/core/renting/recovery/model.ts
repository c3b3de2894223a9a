import * as v from 'valibot'
import { AttemptSeriesId } from '#contract/automation/attempts.ts'
import { RecoveryChoice } from '#contract/automation/recovery.ts'
import { InstanceId } from '#contract/ids.ts'
import type { AccountContext } from '#core/account-context.ts'
import { StoredProblem } from '#core/app/problems.ts'
import type { Collection } from '#core/storage/collection.ts'
import type { Instance } from '#service/instances.ts'
import type { Attempts } from '../attempts/service.ts'
import type { Rentals } from '../rentals/service.ts'

/** The recovery of an interruptible instance once it is outbid, as stored. Micro-dollars. */
export const Recovery = v.object({
  instance: InstanceId,
  choice: RecoveryChoice,
  /** When it last acted; epoch seconds of the account's time. Stored before it acts. */
  lastAt: v.optional(v.number()),
  /** When the service last refused a raise temporarily, and the seconds until the next try. */
  refused: v.optional(v.object({ at: v.number(), wait: v.number() })),
  /** A bid that was sent and not confirmed yet, and the one before it. Per hour. */
  asked: v.optional(v.object({ bid: v.number(), from: v.number(), at: v.number() })),
  /** The user's own bid, and Berth's raise of it. Per hour. */
  base: v.optional(v.number()),
  own: v.optional(v.number()),
  raises: v.number(),
  /** The additional cost of raises: `micros` at `at`, growing by `perHour`. */
  added: v.object({ micros: v.number(), at: v.number(), perHour: v.number() }),
  /** The series of attempts for its replacement. Stored before that begins. */
  attemptSeries: v.optional(AttemptSeriesId),
  replacements: v.number(),
  /** The cost of replacements that are gone, dropped attempts included. */
  replaced: v.number(),
  /** The instance that replaced it, and the one that it replaced. */
  by: v.optional(InstanceId),
  of: v.optional(InstanceId),
  /** Why nothing is possible within the choice, after it was reported. */
  held: v.optional(StoredProblem),
})
export type Recovery = v.InferOutput<typeof Recovery>

export function freshRecovery(instance: number, choice: RecoveryChoice, at: number): Recovery {
  return { instance, choice, raises: 0, added: { micros: 0, at, perHour: 0 }, replacements: 0, replaced: 0 }
}

/** What recoveries work with. */
export interface RecoveryParts {
  context: AccountContext
  recoveries: Collection<Recovery, number>
  rentals: Pick<Rentals, 'ofInstance' | 'knows'>
  attempts: Pick<Attempts, 'start' | 'cancel' | 'find' | 'written'>
  /** All instances of the last poll, as the service sent them. */
  records(): readonly Instance[]
}
