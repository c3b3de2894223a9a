import * as v from 'valibot'
import type { Problem } from '../problem.ts'
import { LimitAction, type LimitWhen } from './limit.ts'

const seconds = v.pipe(v.number(), v.integer(), v.minValue(1))

/**
 * A watchdog's task: the instance's limits that also act while this computer sleeps, in its script's form. Without a
 * condition it waits for runs that use it.
 */
export const WatchdogRequest = v.object({
  action: LimitAction,
  /** Epoch seconds of the account's time. */
  at: v.optional(seconds),
  /** The highest GPU load was below `below` percent for `seconds`, by the instance's own nvidia-smi. */
  idle: v.optional(v.object({ seconds, below: v.number() })),
  /** Seconds without a renewal of its lease by Berth. */
  lease: v.optional(seconds),
})
export type WatchdogRequest = v.InferOutput<typeof WatchdogRequest>

/** The conditions of a request. */
export function conditionsOf({ at, idle, lease }: WatchdogRequest): LimitWhen[] {
  return [
    ...(at === undefined ? [] : [{ kind: 'time' as const, at }]),
    ...(idle ? [{ kind: 'idle' as const, ...idle }] : []),
    ...(lease === undefined ? [] : [{ kind: 'away' as const, seconds: lease }]),
  ]
}

/** Why a watchdog acts. */
const WatchdogReason = v.picklist(['time', 'idle', 'lease', 'run'])
export type WatchdogReason = v.InferOutput<typeof WatchdogReason>

const WatchdogEnding = v.object({ at: v.number(), action: LimitAction, why: WatchdogReason })
export type WatchdogEnding = v.InferOutput<typeof WatchdogEnding>

/** The watchdog's own report when Berth last read it. */
const WatchdogReport = v.object({
  at: v.number(),
  /** Percent, of the busiest GPU. */
  load: v.optional(v.number()),
  /** It goes by idle time, and cannot read the load: that time does not count. */
  blind: v.optional(v.literal(true)),
  /** Seconds. */
  idleFor: v.optional(v.number()),
  leasedFor: v.optional(v.number()),
  /** Why it is about to act, and the number of tries. */
  why: v.optional(WatchdogReason),
  tries: v.optional(v.number()),
  /** What it says that it did: an end that no poll shows is none. */
  did: v.optional(WatchdogEnding),
  /** Whether the start script restarts it with the container; else Berth does, once it is connected. */
  comesBack: v.boolean(),
  /** The source of its instance key: the container's environment, or a copy that Berth stored there. */
  key: v.picklist(['container', 'kept']),
})

/** A watchdog on an instance, as stored and shown. Times in epoch seconds of the account's time. It has no secrets. */
export const WatchdogFields = v.object({
  instance: v.number(),
  request: WatchdogRequest,
  /** What the one on the instance goes by, while it could not be told of `request`. */
  there: v.optional(WatchdogRequest),
  /**
   * putting: wanted, and not known to be there yet. watching: there when Berth last read it. removing: no longer
   * wanted, and not known to be gone yet. lost: gone, and Berth did not remove it.
   */
  step: v.picklist(['putting', 'watching', 'removing', 'lost']),
  /** Another Berth installed it, so this one does not renew its lease. */
  foreign: v.boolean(),
  report: v.optional(WatchdogReport),
  /** Its last action. */
  lastAction: v.optional(WatchdogEnding),
})

export interface WatchdogView extends v.InferOutput<typeof WatchdogFields> {
  /** Why the last try to reach it failed. */
  problem?: Problem
  /** It came with the rental, and so many visits have failed that nobody may count on it. */
  unseen?: true
}

/** The moments at which other Berths' watchdogs end an account's instances, the soonest first. Epoch seconds. */
export function othersEnds(
  watchdogs: Readonly<Record<string, WatchdogView>>,
  now: number,
): { instance: number; action: LimitAction; at: number }[] {
  return Object.values(watchdogs)
    .filter(({ foreign, step }) => foreign && step === 'watching')
    .flatMap(({ instance, request: { action, at } }) =>
      at !== undefined && at > now ? [{ instance, action, at }] : [],
    )
    .sort((a, b) => a.at - b.at)
}
