import type { InstanceView } from '../../../contract/instance/instance.ts'
import type { Connection } from '../../../ssh/connection/connection.ts'
import { instructWatchdog, markRun, type WatchdogOrder } from '../../../ssh/runs/runs.ts'
import type { AccountContext } from '../../account-context.ts'
import { problemOf } from '../../app/problems.ts'
import type { Watchdogs } from '../../guards/watchdog/service.ts'
import { isDeepEqual } from '../../state/same.ts'
import { watchdogOrder } from '../decide.ts'
import type { Run } from '../model.ts'
import type { RunAlerts } from '../run-alerts.ts'
import type { StoredRuns } from '../stored-runs.ts'
import type { Inside } from './inside.ts'

/** What runs want of the watchdogs on their instances. Until one has heard, it does what it was told before. */
export interface RunWatchdog {
  /**
   * Sees to it that there is one where one is wanted, and gives what it is to do. Without one the run begins all the
   * same, and it is said.
   */
  ready(run: Run, view: InstanceView): Promise<WatchdogOrder | undefined>
  /** Tells it where that is still to be told. Never rejects: what failed is still to be told then. */
  tellIfStale(id: string): Promise<void>
  /** Tells it over a connection that is there, whether it may have heard or not. */
  tell(run: Run, connection: Connection): Promise<void>
}

export function createRunWatchdog(
  { account, store, machine: { clock } }: Pick<AccountContext, 'account' | 'store' | 'machine'>,
  {
    watchdogs,
    runs,
    inside,
    note,
  }: {
    watchdogs: Pick<Watchdogs, 'put'>
    runs: Pick<StoredRuns, 'find' | 'update'>
    inside: Inside
    note: RunAlerts['note']
  },
): RunWatchdog {
  const reports = new Map<string, Promise<void>>()

  async function tell({ id }: Run, connection: Connection): Promise<void> {
    for (;;) {
      const run = runs.find(id)
      if (!run?.watchdog && !run?.watchdogStale) return
      const order = watchdogOrder(run)
      if (order) await instructWatchdog(connection, clock, id, order)
      else await markRun(connection, clock, id, 'over')
      const now = runs.find(id)
      if (!now) return
      // What has changed meanwhile is told, too.
      if (!isDeepEqual(watchdogOrder(now), order)) continue
      if (now.watchdogStale) await runs.update(id, { watchdogStale: undefined })
      return
    }
  }

  return {
    tell,
    tellIfStale(id) {
      const run = runs.find(id)
      if (!run?.watchdogStale) return Promise.resolve()
      // Where it cannot be told, the next poll of the account tries again.
      const reached = () => inside(run, connection => tell(run, connection)).catch(() => undefined)
      const underWay = reports.get(id) ?? reached().finally(() => reports.delete(id))
      reports.set(id, underWay)
      return underWay
    },
    async ready(run, view) {
      const wanted = watchdogOrder(run)
      const there = store.get().accounts[account]?.watchdogs[view.id]
      if (!wanted || (there && there.step !== 'lost')) return wanted
      try {
        await watchdogs.put(view.id, { action: 'stop' })
        return wanted
      } catch (error) {
        const { code, message } = problemOf(error)
        if (code.startsWith('ssh_')) throw error
        await runs.update(run.id, { watchdog: false })
        note(run, `${run.name} goes on without a watchdog`, message)
        return undefined
      }
    },
  }
}
