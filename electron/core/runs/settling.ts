import type { Clock } from '../../ports/clock.ts'
import type { Connection } from '../../ssh/connection/connection.ts'
import { instructWatchdog, settleRun } from '../../ssh/runs/runs.ts'
import { same } from '../state/same.ts'
import { watchdogOrder } from './decide.ts'
import type { Inside } from './inside.ts'
import type { Run } from './model.ts'
import type { StoredRuns } from './stored-runs.ts'

/** Tells watchdogs what they are to do for a run. Until one has heard, it does by itself what it was told before. */
export interface Settling {
  /** Tells it where that is still to be told. Never rejects: what failed is still to be told then. */
  settle(id: string): Promise<void>
  /** Tells it over a connection that is there, whether it may have heard or not. */
  tell(run: Run, connection: Connection): Promise<void>
}

export function createSettling({
  runs,
  clock,
  inside,
}: {
  runs: Pick<StoredRuns, 'find' | 'update'>
  clock: Clock
  inside: Inside
}): Settling {
  const under = new Map<string, Promise<void>>()

  async function tell({ id }: Run, connection: Connection): Promise<void> {
    for (;;) {
      const run = runs.find(id)
      if (!run?.watchdog && !run?.watchdogStale) return
      const order = watchdogOrder(run)
      if (order) await instructWatchdog(connection, clock, id, order)
      else await settleRun(connection, clock, id, 'over')
      const now = runs.find(id)
      if (!now) return
      // What has changed meanwhile is told, too.
      if (!same(watchdogOrder(now), order)) continue
      if (now.watchdogStale) await runs.update(id, { watchdogStale: undefined })
      return
    }
  }

  async function reach(run: Run): Promise<void> {
    try {
      await inside(run, connection => tell(run, connection))
    } catch {
      // The next look at the account tries again.
    }
  }

  return {
    tell,
    settle(id) {
      const run = runs.find(id)
      if (!run?.watchdogStale) return Promise.resolve()
      const telling = under.get(id) ?? reach(run).finally(() => under.delete(id))
      under.set(id, telling)
      return telling
    },
  }
}
