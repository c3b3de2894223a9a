import * as v from 'valibot'
import { GuardCondition, guardKinds } from '#contract/automation/guard-kinds.ts'
import { GuardId, RentalId } from '#contract/ids.ts'
import { StoredProblem } from '../app/problems.ts'

/** A guard as stored. Moments in epoch seconds of the account's time, money in micro-dollars. */
export const Guard = v.object({
  id: GuardId,
  /** Absent for one on the whole account. */
  instance: v.optional(v.number()),
  /** The rental that it belongs to. */
  rental: v.optional(RentalId),
  condition: GuardCondition,
  action: v.picklist(['stop', 'destroy']),
  /** Seconds ahead at which it warns. */
  warning: v.number(),
  missed: v.picklist(['act', 'tell']),
  setAt: v.number(),
  /** It does not act before this moment. */
  snoozedUntil: v.optional(v.number()),
  /** Since when every poll has found the instance idle. */
  idleSince: v.optional(v.number()),
  /** Since when the load that it goes by cannot be read, once that was told. */
  blindSince: v.optional(v.number()),
  /** When it warned of the next moment. */
  warnedAt: v.optional(v.number()),
  /** When it was due without fresh facts: it acts once there are some, however late. */
  heldAt: v.optional(v.number()),
  /** When it began to act, set before the first request. */
  begunAt: v.optional(v.number()),
  /** Its latest targets, set with `begunAt`. */
  targets: v.optional(v.array(v.number())),
  /** Its moment was missed and only reported: it does nothing until the next one. */
  passed: v.optional(v.boolean()),
  /** Failed tries in a row, the last one's problem, and when the next may begin. */
  failures: v.optional(v.number()),
  problem: v.optional(StoredProblem),
  retryAt: v.optional(v.number()),
  ended: v.optional(v.picklist(['done', 'missed', 'over', 'off'])),
  history: v.array(v.object({ at: v.number(), text: v.string() })),
})
export type Guard = v.InferOutput<typeof Guard>

/** Whether a guard of this kind ends after it acted. The others continue. */
export function actsOnce({ condition: { kind } }: Pick<Guard, 'condition'>): boolean {
  return !guardKinds[kind].goesOn
}

/** The number of events stored per guard. */
const longestHistory = 20

export function withEvent(guard: Guard, at: number, text: string): Guard {
  return { ...guard, history: [...guard.history, { at, text }].slice(-longestHistory) }
}

/** The same guard without the alerts, tries and failures of its last moment. */
export function withoutWarning(guard: Guard): Guard {
  const nothing = { warnedAt: undefined, heldAt: undefined, begunAt: undefined, passed: undefined }
  return { ...guard, ...nothing, failures: undefined, problem: undefined, retryAt: undefined }
}

/** The number of instances stored per guard. */
const mostTargets = 50

/** The guard with the instances that it is about to act on. */
export function withTargets(guard: Guard, targets: readonly { instance: number }[]): Guard {
  const ids = targets.map(({ instance }) => instance)
  const before = (guard.targets ?? []).filter(id => !ids.includes(id))
  return { ...guard, targets: [...before, ...ids].slice(-mostTargets) }
}
