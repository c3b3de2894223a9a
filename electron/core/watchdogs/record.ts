import * as v from 'valibot'
import type { Platform } from '#platform/platform.ts'
import { WatchdogFields, type WatchdogView } from '#shared/automation/watchdog.ts'
import type { Problem } from '#shared/problem.ts'
import { type Collection, type CollectionContext, openCollection } from '../storage/collection.ts'
import { type DocumentPlace, openDocument } from '../storage/json-file.ts'

/** What a user hears of a watchdog that can't be reached: it isn't there, isn't known to be, or acts late, or early. */
export const untoldKinds = ['absent', 'unseen', 'late', 'early'] as const

/** A watchdog as stored. */
export const StoredWatchdog = v.object({
  ...WatchdogFields.entries,
  /** When the lease was last renewed, epoch seconds of the account's time. */
  renewedAt: v.optional(v.number()),
  /** Berth requested its instance's end; that many more polls may still show it running. */
  endsHere: v.optional(v.number()),
  /** What its user was told while it can't be reached. */
  told: v.optional(v.picklist(untoldKinds)),
  /** Whether it has been decided that the watchdog ended the instance; decided again only after it has run. */
  isEndDecided: v.optional(v.boolean()),
})
export type StoredWatchdog = v.InferOutput<typeof StoredWatchdog>

/** Polls that may still show it running after Berth requested its end; after that the request counts as failed. */
export const pollsUntilEnd = 3

/** The watchdogs of one account, as stored and as shown in State, one per instance. */
export interface StoredWatchdogs extends Collection<StoredWatchdog, number> {
  /** Why the last visit failed, by instance; shown with the next `show`. */
  readonly problems: Map<number, Problem>
  /** Berth is about to stop or destroy an instance, so its end is not the watchdog's doing. */
  endsHere(instance: number): void
}

/**
 * Tells this Berth's watchdogs from those of another one with the same account: a random id, made when it is first
 * needed.
 */
export async function openWatchdogOwner(
  context: DocumentPlace & { platform: Pick<Platform, 'random'> },
): Promise<() => Promise<string>> {
  const owner = await openDocument(context, 'watchdog-owner', v.object({ id: v.optional(v.string()) }), {})
  return async () => {
    if (owner.get().id === undefined)
      await owner.record(({ id = context.platform.random.hex(16) }) => ({ id }))
    return owner.get().id ?? ''
  }
}

export async function openStoredWatchdogs(context: CollectionContext): Promise<StoredWatchdogs> {
  const problems = new Map<number, Problem>()
  const watchdogs = await openCollection(context, {
    name: 'watchdogs',
    schema: StoredWatchdog,
    key: ({ instance }) => instance,
    view: all => ({
      watchdogs: Object.fromEntries(
        all.map(watchdog => [watchdog.instance, watchdogView(watchdog, problems.get(watchdog.instance))]),
      ),
    }),
  })
  return {
    ...watchdogs,
    problems,
    endsHere(instance) {
      const watchdog = watchdogs.find(instance)
      if (watchdog) void watchdogs.put({ ...watchdog, endsHere: pollsUntilEnd })
    },
  }
}

function watchdogView(watchdog: StoredWatchdog, problem: Problem | undefined): WatchdogView {
  const { renewedAt: _renewedAt, endsHere: _endsHere, told, isEndDecided: _isEndDecided, ...view } = watchdog
  return { ...view, problem, ...(told === 'unseen' && { unseen: true }) }
}
