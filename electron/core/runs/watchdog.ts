import type { InstanceView } from '../../contract/instance/instance.ts'
import type { WatchdogOrder } from '../../ssh/runs/runs.ts'
import type { AccountContext } from '../account-context.ts'
import { problemOf } from '../app/problems.ts'
import type { Watchdogs } from '../guards/watchdog/service.ts'
import { watchdogOrder } from './decide.ts'
import type { Run } from './model.ts'
import type { StoredRuns } from './stored-runs.ts'

/** What runs want of the watchdog on their instance. */
export interface RunWatchdog {
  /**
   * Sees to it that there is one where one is wanted, and gives what it is to do. Without one the run begins all the
   * same, and it is said.
   */
  ready(run: Run, view: InstanceView): Promise<WatchdogOrder | undefined>
}

export function createRunWatchdog(
  { account, store }: Pick<AccountContext, 'account' | 'store'>,
  {
    watchdogs,
    runs,
    note,
  }: {
    watchdogs: Pick<Watchdogs, 'put'>
    runs: Pick<StoredRuns, 'update'>
    note(run: Run, text: string, detail?: string): void
  },
): RunWatchdog {
  return {
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
