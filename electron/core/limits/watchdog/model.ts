import * as v from 'valibot'
import { type WatchdogReason, WatchdogRequest } from '#contract/automation/watchdog.ts'

const reason = v.picklist(['time', 'idle', 'lease', 'run'] satisfies WatchdogReason[])

/** A watchdog as stored: the request, and its last report. It contains no secrets. */
export const StoredWatchdog = v.object({
  instance: v.number(),
  request: WatchdogRequest,
  step: v.picklist(['putting', 'watching', 'removing', 'lost']),
  foreign: v.boolean(),
  /** When the lease was last renewed, epoch seconds of the account's time. */
  renewedAt: v.optional(v.number()),
  seen: v.optional(
    v.object({
      at: v.number(),
      load: v.optional(v.number()),
      blind: v.optional(v.literal(true)),
      idleFor: v.optional(v.number()),
      leasedFor: v.optional(v.number()),
      why: v.optional(reason),
      tries: v.optional(v.number()),
      comesBack: v.boolean(),
      key: v.picklist(['container', 'kept']),
    }),
  ),
  did: v.optional(v.object({ at: v.number(), action: v.picklist(['stop', 'destroy']), why: reason })),
  /** Berth requested its instance's end; that many more polls may still show it running. */
  endsHere: v.optional(v.number()),
  /** Whether it has been decided that the watchdog ended the instance; decided again only after it has run. */
  told: v.optional(v.boolean()),
})
export type StoredWatchdog = v.InferOutput<typeof StoredWatchdog>

/** Seconds between visits, short enough that a lease survives a few failed ones. */
export function visitEvery({ request, foreign }: StoredWatchdog): number {
  if (request.lease === undefined || foreign) return 300
  return Math.min(300, Math.max(2, request.lease / 4))
}

/** Seconds between two checks of the watchdog itself. */
export function tickOf({ idle, lease }: WatchdogRequest): number {
  return Math.max(1, Math.min(10, Math.floor(Math.min(idle?.seconds ?? 60, lease ?? 60) / 4)))
}

/** Whether a start script installs a watchdog. */
export function startsWatchdog(onstart: string | undefined): boolean {
  return onstart?.includes('# >>> berth watchdog') ?? false
}
