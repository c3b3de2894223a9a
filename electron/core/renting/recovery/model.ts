import * as v from 'valibot'
import { AttemptSeriesId } from '../../../contract/automation/attempts.ts'
import { RecoveryChoice } from '../../../contract/automation/recovery.ts'
import { InstanceId } from '../../../contract/ids.ts'
import type { Instance } from '../../../service/instances.ts'
import type { AccountContext } from '../../account-context.ts'
import { StoredProblem } from '../../app/problems.ts'
import type { Collection } from '../../storage/collection.ts'
import type { Attempts } from '../attempts/service.ts'
import type { Rentals } from '../rentals/service.ts'

/** What Berth does for one interruptible instance once it is outbid, as it is remembered. Micro-dollars. */
export const Recovery = v.object({
  instance: InstanceId,
  choice: RecoveryChoice,
  /** When it last acted; epoch seconds of the account's time. On disk before it acts. */
  lastAt: v.optional(v.number()),
  /** When the service last refused a raise in passing, and the seconds until it is tried again. */
  refused: v.optional(v.object({ at: v.number(), wait: v.number() })),
  /** A bid that was sent and not seen to hold yet, and the one before it. Per hour. */
  asked: v.optional(v.object({ bid: v.number(), from: v.number(), at: v.number() })),
  /** The bid that was the user's own, and the one that Berth has made of it. Per hour. */
  base: v.optional(v.number()),
  own: v.optional(v.number()),
  raises: v.number(),
  /** What the raises have added: `micros` at `at`, growing by `perHour`. */
  added: v.object({ micros: v.number(), at: v.number(), perHour: v.number() }),
  /** The series of attempts that rents its replacement. On disk before that begins. */
  attemptSeries: v.optional(AttemptSeriesId),
  replacements: v.number(),
  /** What replacements have cost that are gone, dropped attempts included. */
  replaced: v.number(),
  /** The instance that has its place, and the one whose place it has. */
  by: v.optional(InstanceId),
  of: v.optional(InstanceId),
  /** Why nothing can be done within the choice; it was told. */
  held: v.optional(StoredProblem),
})
export type Recovery = v.InferOutput<typeof Recovery>

export function freshRecovery(instance: number, choice: RecoveryChoice, at: number): Recovery {
  return { instance, choice, raises: 0, added: { micros: 0, at, perHour: 0 }, replacements: 0, replaced: 0 }
}

/** What recoveries are carried out with. */
export interface RecoveryParts {
  context: AccountContext
  recoveries: Collection<Recovery, number>
  rentals: Pick<Rentals, 'ofInstance' | 'knows'>
  attempts: Pick<Attempts, 'start' | 'cancel' | 'find' | 'written'>
  /** Every instance of the last poll, as the service gave it. */
  records(): readonly Instance[]
}
