import * as v from 'valibot'
import { GuardId } from '../../contract/automation/guard.ts'
import { GuardCondition, guardKinds } from '../../contract/automation/guard-kinds.ts'
import { RentalId } from '../../contract/ids.ts'
import { StoredProblem } from '../app/problems.ts'

/** A guard as it is remembered. Moments in epoch seconds of the account's time, money in micro-dollars. */
export const Guard = v.object({
  id: GuardId,
  /** Absent for one on the whole account. */
  instance: v.optional(v.number()),
  /** The rental that it was chosen with. */
  rental: v.optional(RentalId),
  condition: GuardCondition,
  action: v.picklist(['stop', 'destroy']),
  /** Seconds ahead at which it warns. */
  warning: v.number(),
  missed: v.picklist(['act', 'tell']),
  setAt: v.number(),
  /** It does not act before. */
  snoozedUntil: v.optional(v.number()),
  /** Since when every poll has found the instance idle. */
  idleSince: v.optional(v.number()),
  /** When it warned of the moment that comes. */
  warnedAt: v.optional(v.number()),
  /** When it was due and nothing fresh was to be had: it acts once there is, however late. */
  heldAt: v.optional(v.number()),
  /** When it began to act: set before the first request leaves. */
  begunAt: v.optional(v.number()),
  /** What it acted on last: set with `begunAt`. */
  targets: v.optional(v.array(v.number())),
  /** Its moment was missed and the user only told: it does nothing until another one comes. */
  passed: v.optional(v.boolean()),
  /** Tries in a row that failed, why the last one did, and when the next one may begin. */
  failures: v.optional(v.number()),
  problem: v.optional(StoredProblem),
  retryAt: v.optional(v.number()),
  ended: v.optional(v.picklist(['done', 'missed', 'over', 'off'])),
  history: v.array(v.object({ at: v.number(), text: v.string() })),
})
export type Guard = v.InferOutput<typeof Guard>

/** Whether a guard of this kind is over once it has acted. The others go on guarding. */
export function actsOnce({ condition: { kind } }: Pick<Guard, 'condition'>): boolean {
  return !guardKinds[kind].goesOn
}

/** Events kept of each guard. */
const longestHistory = 20

export function withEvent(guard: Guard, at: number, text: string): Guard {
  return { ...guard, history: [...guard.history, { at, text }].slice(-longestHistory) }
}

/** The same guard without the alerts, tries and failures of its last moment. */
export function withoutWarning(guard: Guard): Guard {
  const nothing = { warnedAt: undefined, heldAt: undefined, begunAt: undefined, passed: undefined }
  return { ...guard, ...nothing, failures: undefined, problem: undefined, retryAt: undefined }
}

/** Instances remembered of each guard. */
const mostTargets = 50

/** The guard with what it is about to act on. */
export function withTargets(guard: Guard, targets: readonly { instance: number }[]): Guard {
  const ids = targets.map(({ instance }) => instance)
  const before = (guard.targets ?? []).filter(id => !ids.includes(id))
  return { ...guard, targets: [...before, ...ids].slice(-mostTargets) }
}
