import * as v from 'valibot'
import { LimitCondition, limitKinds } from '#contract/automation/limit-kinds.ts'
import { LimitId, RentalId } from '#contract/ids.ts'
import { StoredProblem } from '../app/problems.ts'

/** A limit as stored. Moments in epoch seconds of the account's time, money in micro-dollars. */
export const Limit = v.object({
  id: LimitId,
  /** Absent for one on the whole account. */
  instance: v.optional(v.number()),
  /** The rental that it belongs to. */
  rental: v.optional(RentalId),
  condition: LimitCondition,
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
export type Limit = v.InferOutput<typeof Limit>

/** Whether a limit of this kind ends after it acted. The others continue. */
export function actsOnce({ condition: { kind } }: Pick<Limit, 'condition'>): boolean {
  return !limitKinds[kind].goesOn
}

/** The number of events stored per limit. */
const longestHistory = 20

export function withEvent(limit: Limit, at: number, text: string): Limit {
  return { ...limit, history: [...limit.history, { at, text }].slice(-longestHistory) }
}

/** The same limit without the alerts, tries and failures of its last moment. */
export function withoutWarning(limit: Limit): Limit {
  const nothing = { warnedAt: undefined, heldAt: undefined, begunAt: undefined, passed: undefined }
  return { ...limit, ...nothing, failures: undefined, problem: undefined, retryAt: undefined }
}

/** The number of instances stored per limit. */
const mostTargets = 50

/** The limit with the instances that it is about to act on. */
export function withTargets(limit: Limit, targets: readonly { instance: number }[]): Limit {
  const ids = targets.map(({ instance }) => instance)
  const before = (limit.targets ?? []).filter(id => !ids.includes(id))
  return { ...limit, targets: [...before, ...ids].slice(-mostTargets) }
}
