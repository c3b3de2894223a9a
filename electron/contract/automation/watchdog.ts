import * as v from 'valibot'
import type { Problem } from '../problem.ts'

const days = 86_400

/** Seconds of a condition; below five nothing could be seen or renewed in between. */
export const watchdogSpan = (what: string) =>
  v.pipe(
    v.number(`give ${what} as a number`),
    v.integer('whole seconds'),
    v.minValue(5, 'at least 5 seconds'),
    v.maxValue(90 * days, 'at most 90 days'),
  )

/** What a watchdog inside an instance does, and when. Without a condition it waits for the runs that name it. */
export const WatchdogRequest = v.object({
  action: v.picklist(['stop', 'destroy']),
  /** Epoch seconds of the account's time. */
  at: v.optional(v.pipe(v.number('give the time'), v.integer('whole seconds'), v.minValue(1))),
  /** The highest load of all GPUs was below so many percent for so many seconds, by the instance's own nvidia-smi. */
  idle: v.optional(
    v.object({
      seconds: watchdogSpan('how long it is idle'),
      below: v.pipe(
        v.number('give the load in percent'),
        v.integer('whole percents'),
        v.minValue(1, 'at least 1 %'),
        v.maxValue(100, 'at most 100 %'),
      ),
    }),
  ),
  /** Berth has not renewed its lease for so many seconds. */
  lease: v.optional(watchdogSpan('how long Berth may be away')),
})
export type WatchdogRequest = v.InferOutput<typeof WatchdogRequest>

/** Why a watchdog acts. */
export type WatchdogReason = 'time' | 'idle' | 'lease' | 'run'

/** A watchdog on an instance, as far as Berth knows. Times in epoch seconds of the account's time. */
export interface WatchdogView {
  instance: number
  request: WatchdogRequest
  /**
   * putting: it is wanted and not known to be there. watching: it was there when it was last read. removing: it is not
   * wanted any more and not known to be gone. lost: it is gone, and not by Berth's doing.
   */
  step: 'putting' | 'watching' | 'removing' | 'lost'
  /** Another Berth put it there: this one does not renew its lease. */
  foreign: boolean
  seen?: WatchdogSeen
  /** What it did last. */
  did?: WatchdogEnding
  /** Why the last try to reach it failed. */
  problem?: Problem
}

/** What a watchdog told of itself when it was last read. */
export interface WatchdogSeen {
  at: number
  /** Percent, of the GPU with the highest. */
  load?: number
  /** Seconds. */
  idleFor?: number
  leasedFor?: number
  /** What it is about to do, and how often it tried. */
  why?: WatchdogReason
  tries?: number
  /** Whether the start script brings it back after a restart of the container; else Berth does, once it gets in. */
  comesBack: boolean
  /** Where it has the instance's key from: the container's environment, or what Berth kept and left there. */
  key: 'container' | 'kept'
}

export interface WatchdogEnding {
  at: number
  action: 'stop' | 'destroy'
  why: WatchdogReason
}
