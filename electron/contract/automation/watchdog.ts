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
export type WatchdogReason = 'time' | 'idle' | 'lease' | 'run'

/** A watchdog on an instance, as far as Berth knows. Times in epoch seconds of the account's time. */
export interface WatchdogView {
  instance: number
  request: WatchdogRequest
  /**
   * putting: wanted, and not known to be there yet. watching: there when Berth last read it. removing: no longer
   * wanted, and not known to be gone yet. lost: gone, and Berth did not remove it.
   */
  step: 'putting' | 'watching' | 'removing' | 'lost'
  /** Another Berth installed it, so this one does not renew its lease. */
  foreign: boolean
  report?: WatchdogReport
  /** Its last action. */
  lastAction?: WatchdogEnding
  /** Why the last try to reach it failed. */
  problem?: Problem
}

/** The watchdog's own report when Berth last read it. */
export interface WatchdogReport {
  at: number
  /** Percent, of the busiest GPU. */
  load?: number
  /** It goes by idle time, and cannot read the load: that time does not count. */
  blind?: true
  /** Seconds. */
  idleFor?: number
  leasedFor?: number
  /** Why it is about to act, and the number of tries. */
  why?: WatchdogReason
  tries?: number
  /** Whether the start script restarts it with the container; else Berth does, once it is connected. */
  comesBack: boolean
  /** The source of its instance key: the container's environment, or a copy that Berth stored there. */
  key: 'container' | 'kept'
}

export interface WatchdogEnding {
  at: number
  action: 'stop' | 'destroy'
  why: WatchdogReason
}
