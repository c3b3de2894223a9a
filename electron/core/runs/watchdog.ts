import type { InstanceView } from '#shared/instance/instance.ts'
import type { Connection } from '#ssh/connection/connection.ts'
import { instructWatchdog, markRun, type WatchdogOrder } from '#ssh/runs/runs.ts'
import type { AccountContext } from '../account-context.ts'
import { problemOf } from '../bridge/problems.ts'
import { isDeepEqual } from '../storage/store.ts'
import type { Watchdogs } from '../watchdogs/perform.ts'
import type { RunAlerts } from './alerts.ts'
import { watchdogOrder } from './decide.ts'
import type { Run } from './model.ts'
import type { RunMachines } from './remote.ts'
import type { StoredRuns } from './stored-runs.ts'

interface WatchdogParts {
  watchdogs: Pick<Watchdogs, 'apply'>
  runs: Pick<StoredRuns, 'find' | 'update'>
  machines: Pick<RunMachines, 'inside'>
  alerts: Pick<RunAlerts, 'note'>
}

/** Runs' orders to the watchdogs on their instances. A watchdog follows its last order until it receives a new one. */
export class RunWatchdog {
  readonly #context: Pick<AccountContext, 'account' | 'store' | 'platform'>
  readonly #parts: WatchdogParts
  readonly #reports = new Map<string, Promise<void>>()

  constructor(context: Pick<AccountContext, 'account' | 'store' | 'platform'>, parts: WatchdogParts) {
    this.#context = context
    this.#parts = parts
  }

  /** Sends the order over an open connection, even where it was received already. */
  async tell({ id }: Run, connection: Connection): Promise<void> {
    const { clock } = this.#context.platform
    const { runs } = this.#parts
    for (;;) {
      const run = runs.find(id)
      if (!run?.watchdog && !run?.watchdogStale) return
      const order = watchdogOrder(run)
      if (order) await instructWatchdog(connection, clock, id, order)
      else await markRun(connection, clock, id, 'over')
      const now = runs.find(id)
      if (!now) return
      // If the order changed meanwhile, the new one is sent, too.
      if (!isDeepEqual(watchdogOrder(now), order)) continue
      if (now.watchdogStale) await runs.update(id, { watchdogStale: undefined })
      return
    }
  }

  /** Sends the order where it is outdated. Never rejects; a failure is retried later. */
  tellIfStale(id: string): Promise<void> {
    const { runs, machines } = this.#parts
    const run = runs.find(id)
    if (!run?.watchdogStale) return Promise.resolve()
    // After a failure, the next poll tries again.
    const reached = () =>
      machines.inside(run, connection => this.tell(run, connection)).catch(() => undefined)
    const underWay = this.#reports.get(id) ?? reached().finally(() => this.#reports.delete(id))
    this.#reports.set(id, underWay)
    return underWay
  }

  /**
   * Installs a watchdog where one is wanted, and returns its order. Where that fails, the run starts without one, which
   * is noted.
   */
  async ready(run: Run, view: InstanceView): Promise<WatchdogOrder | undefined> {
    const { store, account } = this.#context
    const { watchdogs, runs, alerts } = this.#parts
    const wanted = watchdogOrder(run)
    const there = store.get().accounts[account]?.watchdogs[view.id]
    if (!wanted || there?.step === 'watching') return wanted
    try {
      await watchdogs.apply(view.id, true)
      return wanted
    } catch (error) {
      const { code, message } = problemOf(error)
      if (code.startsWith('ssh_') || code === 'shell_replaced' || code === 'no_posix_shell') throw error
      await runs.update(run.id, { watchdog: false })
      alerts.note(run, `${run.name} continues without a watchdog`, message)
      return undefined
    }
  }
}
