import type { Problem } from '#contract/problem.ts'
import type { AccountContext } from '../account-context.ts'
import { hinderedAlert, runFailedAlert } from './alerts.ts'
import { afterFailure } from './decide.ts'
import type { Run } from './model.ts'
import type { RunAlerts } from './run-alerts.ts'
import type { StoredRuns } from './stored-runs.ts'

/** The one way on which a run fails, and what is told of one that cannot go on for now. */
export interface Failing {
  /**
   * Fails a run for good reason: alerted and in Activity, and its instance is stopped where anything was to become of
   * it. The caller continues the run's loop. Never rejects.
   */
  fail(id: string, problem: Problem): Promise<void>
  /** Alerts that a run cannot go on yet, and that Berth keeps trying. */
  hindered(run: Run, problem: Problem): void
}

export function createFailing(
  { account, now }: Pick<AccountContext, 'account' | 'now'>,
  { runs, runAlerts: { tell, nameOf } }: { runs: StoredRuns; runAlerts: RunAlerts },
): Failing {
  return {
    async fail(id, { code, message, advice }) {
      const run = runs.find(id)
      if (!run) return
      const after = await runs.update(id, {
        ...afterFailure(run, code),
        endedAt: run.endedAt ?? now(),
        stuckSince: undefined,
        problem: { code, message, advice },
      })
      runs.setProblem(id, undefined)
      if (after) tell(after, runFailedAlert(account, after, nameOf(after)))
    },
    hindered(run, problem) {
      tell(run, hinderedAlert(account, run, nameOf(run), problem))
    },
  }
}
