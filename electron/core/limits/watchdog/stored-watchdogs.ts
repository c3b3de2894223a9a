import type { WatchdogView } from '#contract/automation/watchdog.ts'
import type { Problem } from '#contract/problem.ts'
import { type Collection, type CollectionContext, openCollection } from '#core/storage/collection.ts'
import { pollsUntilEnd } from './decide.ts'
import { StoredWatchdog } from './model.ts'

/** The watchdogs of one account, as stored and as shown in State, one per instance. */
export interface StoredWatchdogs extends Collection<StoredWatchdog, number> {
  /** Why the last visit failed, by instance; shown with the next `show`. */
  readonly problems: Map<number, Problem>
  /** Berth is about to stop or destroy an instance, so its end is not the watchdog's doing. */
  endsHere(instance: number): void
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
  const { renewedAt: _renewedAt, endsHere: _endsHere, told: _told, ...view } = watchdog
  return { ...view, problem }
}
