import { isGoing } from '#shared/automation/run.ts'
import { BerthError } from '#shared/problem.ts'
import { markRun } from '#ssh/runs/runs.ts'
import type { AccountContext } from '../account-context.ts'
import { alertId } from './alerts.ts'
import { runGoing, watchdogStale } from './messages.ts'
import { isWorker, programsOf, type Run } from './model.ts'
import type { RunNodes } from './nodes.ts'
import type { RunOutputs } from './output.ts'
import type { RunMachines } from './remote.ts'
import { type StoredRuns, surplusRuns } from './stored-runs.ts'
import type { RunWatchdog } from './watchdog.ts'

/** How many ended runs are kept. */
const mostEnded = 200

/** Where a run leaves traces, besides the account. */
interface RemovalParts {
  runs: StoredRuns
  outputs: Pick<RunOutputs, 'delete'>
  machines: Pick<RunMachines, 'inside'>
  watchdog: Pick<RunWatchdog, 'tellIfStale'>
  nodes: Pick<RunNodes, 'of'>
}

/** Takes runs off the list, with their output and what their machines have of them. */
export class RunRemoval {
  readonly #context: AccountContext
  readonly #parts: RemovalParts

  constructor(context: AccountContext, parts: RemovalParts) {
    this.#context = context
    this.#parts = parts
  }

  async remove(run: Run): Promise<void> {
    const { runs, outputs, machines, nodes } = this.#parts
    const { account, notifications, platform } = this.#context
    if (!isWorker(run)) for (const other of nodes.of(run)) if (other.id !== run.id) await this.remove(other)
    const programIds = programsOf(run)
    await runs.remove(run.id)
    await Promise.all(programIds.map(outputs.delete))
    notifications.withdraw(alertId(account, run))
    const forget = machines.inside(run, async connection => {
      for (const program of programIds) await markRun(connection, platform.clock, program, 'remove')
    })
    void forget.catch(() => undefined)
  }

  /** The same for its user. Throws `run_going` or `watchdog_stale`. */
  async dismiss(id: string): Promise<void> {
    const { runs, watchdog, nodes } = this.#parts
    const run = runs.get(id)
    const isBusy = (one: Run) => isGoing(one) || one.leaving || one.withdrawing
    if (isBusy(run) || nodes.of(run).some(isBusy)) throw new BerthError(runGoing)
    await watchdog.tellIfStale(id)
    if (this.#isThreatened(run)) throw new BerthError(watchdogStale)
    await this.remove(run)
  }

  /** Removes the oldest runs beyond the number that is kept. */
  async makeRoom(): Promise<void> {
    for (const old of surplusRuns(this.#parts.runs.all(), mostEnded))
      if (!this.#isThreatened(old)) await this.remove(old)
  }

  /** Whether its watchdog still has an outdated order to end the instance, which only the run remembers to correct. */
  #isThreatened({ id, instance = 0 }: Run): boolean {
    const { account, store } = this.#context
    const { instances, watchdogs: there } = store.get().accounts[account] ?? {}
    const isStale = this.#parts.runs.find(id)?.watchdogStale === true
    return isStale && instances?.[instance] !== undefined && !!there?.[instance]
  }
}
