import * as v from 'valibot'
import { LimitFields, limitKinds } from '#shared/automation/limit.ts'
import { LastUse } from '#shared/automation/use.ts'
import { RentalId } from '#shared/ids.ts'
import type { AccountContext } from '../account-context.ts'
import { StoredProblem } from '../bridge/problems.ts'
import {
  type Collection,
  type CollectionContext,
  openCollection,
  type Rescue,
} from '../storage/collection.ts'

/** A limit as stored. Moments in epoch seconds of the account's time, money in micro-dollars. */
export const StoredLimit = v.object({
  ...LimitFields.entries,
  /** The rental that it belongs to. */
  rental: v.optional(RentalId),
  /** It stops a machine that its run leaves, and is over once the user starts that. */
  leaving: v.optional(v.literal(true)),
  /** What its instance had cost when a limit on the cost was set again, micro-dollars. */
  spentBefore: v.optional(v.number()),
  /** Since when every poll has found the instance idle. */
  idleSince: v.optional(v.number()),
  /** When somebody used it though it was idle, and how. */
  used: v.optional(LastUse),
  /** Since when its load cannot be read, once that was reported. */
  blindSince: v.optional(v.number()),
  /** When it warned of the next moment. */
  warnedAt: v.optional(v.number()),
  /** Of a budget: the share in percent that was told, and the begin of that day or month. */
  told: v.optional(v.object({ from: v.number(), share: v.number() })),
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
  /** `gone`: its instance is gone, and the limit holds again if it returns. */
  ended: v.optional(v.picklist(['done', 'missed', 'over', 'off', 'gone'])),
})
export type StoredLimit = v.InferOutput<typeof StoredLimit>

/** Whether a limit of this kind ends after it acted. The others continue. */
export function actsOnce({ when: { kind } }: Pick<StoredLimit, 'when'>): boolean {
  return !limitKinds[kind].goesOn
}

/** How a limit ended, for the page. */
export function endOf({ ended }: StoredLimit): 'done' | 'missed' | 'over' | 'off' | undefined {
  return ended === 'gone' ? 'over' : ended
}

/** The number of events stored per limit. */
const longestHistory = 20

export function withEvent(limit: StoredLimit, at: number, text: string): StoredLimit {
  return { ...limit, history: [...limit.history, { at, text }].slice(-longestHistory) }
}

/** The same limit without the alerts, tries and failures of its last moment. */
export function withoutWarning(limit: StoredLimit): StoredLimit {
  const nothing = { warnedAt: undefined, heldAt: undefined, begunAt: undefined, passed: undefined }
  return { ...limit, ...nothing, failures: undefined, problem: undefined, retryAt: undefined }
}

/** The number of instances stored per limit. */
const mostTargets = 50

/** The limit with the instances that it is about to act on. */
export function withTargets(limit: StoredLimit, targets: readonly { instance: number }[]): StoredLimit {
  const ids = targets.map(({ instance }) => instance)
  const before = (limit.targets ?? []).filter(id => !ids.includes(id))
  return { ...limit, targets: [...before, ...ids].slice(-mostTargets) }
}

/** The limits of one account, as stored. */
export interface StoredLimits extends Collection<StoredLimit, string> {
  /** The limit that acted on an instance, also before a restart: it shows that Berth stopped it. */
  actedOn(instance: number): StoredLimit | undefined
}

/** How many ended limits are kept for reading. */
const mostEnded = 50

/** Seconds until an instance is stopped whose limit is no longer known. */
const untilStopped = 86_400

/** What is left of a limit that cannot be read: with an unknown condition it stops its instance in a day. */
function rescueLimit(at: number): Rescue<StoredLimit> {
  return {
    instead: {
      when: { kind: 'time', at: at + untilStopped },
      action: 'stop',
      asleep: false,
      warning: 3600,
      missed: 'act',
      setAt: at,
      history: [],
    },
    keep(limit, lacking) {
      const isOnInstance = limitKinds[limit.when.kind].on === 'instance'
      if (isOnInstance !== (limit.instance !== undefined)) return undefined
      const text = lacking.some(part => part.startsWith('when'))
        ? 'Its condition couldn’t be read, so it stops the instance in a day'
        : 'Parts of it couldn’t be read'
      return withEvent(limit, at, text)
    },
  }
}

export async function openStoredLimits(
  context: CollectionContext & Pick<AccountContext, 'now'>,
): Promise<StoredLimits> {
  const limits = await openCollection(context, {
    name: 'limits',
    schema: StoredLimit,
    rescue: rescueLimit(context.now()),
    key: ({ id }) => id,
    missing: { code: 'no_such_limit', message: 'That limit no longer exists.' },
    prune: {
      isOver: ({ ended }) => ended !== undefined && ended !== 'off' && ended !== 'gone',
      most: mostEnded,
    },
  })
  return { ...limits, actedOn: instance => limits.all().find(({ targets }) => targets?.includes(instance)) }
}
