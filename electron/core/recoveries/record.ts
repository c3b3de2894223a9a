import * as v from 'valibot'
import { type RecoveryChoice, RecoveryFields } from '#shared/automation/recovery.ts'
import { InstanceId } from '#shared/ids.ts'
import { StoredProblem } from '../bridge/problems.ts'

/** The recovery of an interruptible instance once it is outbid, as stored. Its rental is stored before that begins. */
export const Recovery = v.object({
  ...RecoveryFields.entries,
  instance: InstanceId,
  /** When it last acted; epoch seconds of the account's time. Stored before it acts. */
  lastAt: v.optional(v.number()),
  /** When the service last refused a raise temporarily, and the seconds until the next attempt. */
  refused: v.optional(v.object({ at: v.number(), wait: v.number() })),
  /** A bid that was sent and not confirmed yet, and the one before it, micro-dollars per hour. */
  pendingBid: v.optional(v.object({ bid: v.number(), from: v.number(), at: v.number() })),
  /** The user's own bid, and Berth's raise of it, micro-dollars per hour. */
  base: v.optional(v.number()),
  own: v.optional(v.number()),
  /** Why nothing is possible within the choice, after it was reported. */
  hindrance: v.optional(StoredProblem),
})
export type Recovery = v.InferOutput<typeof Recovery>

export function freshRecovery(instance: number, choice: RecoveryChoice, at: number): Recovery {
  return {
    instance,
    choice,
    raises: 0,
    addedCost: { micros: 0, at, perHour: 0 },
    replacements: 0,
    replacedCost: 0,
  }
}
