import { isGoing } from '#contract/automation/run.ts'
import type { Problem } from '#contract/problem.ts'
import type { AccountContext, AccountPoll } from '../account-context.ts'
import { rentalOf } from '../instances/mark.ts'
import { pollsUntilGone } from '../instances/missing-polls.ts'
import type { Rentals } from '../renting/rentals.ts'
import { notStartedAlert } from './alerts.ts'
import { instanceGone, runAfterPoll } from './decide.ts'
import type { Run } from './model.ts'
import type { RunParts } from './parts.ts'
import type { RunChange } from './stored-runs.ts'
import type { RunWork } from './work.ts'

interface PollParts extends Pick<RunWork, 'work' | 'wake'> {
  rentals: Pick<Rentals, 'find'>
  /** Runs whose instance is being rented right now. */
  asking: ReadonlySet<string>
  dismiss(id: string): Promise<void>
}

/** Makes the function that each poll calls: it starts runs whose instance is ready, and continues the others. */
export function createOnPoll(
  { store, account }: Pick<AccountContext, 'store' | 'account'>,
  { runs, watchdog, runAlerts, failing }: Pick<RunParts, 'runs' | 'watchdog' | 'runAlerts' | 'failing'>,
  { rentals, asking, work, wake, dismiss }: PollParts,
): (poll: AccountPoll) => void {
  /** The rental that a run waits for. */
  function awaited({ rental, attemptSeries }: Run): { step: string; problem?: Problem } | undefined {
    return rentals.find(attemptSeries ?? rental ?? '')
  }

  function rentedFor({ rental, attemptSeries }: Run, records: AccountPoll['records']): number | undefined {
    const id = attemptSeries ?? rental ?? ''
    const found = rentals.find(id)
    if (found?.step === 'ready') return found.instance
    return records.find(({ label, extra_env }) => rentalOf(label, extra_env ?? []) === id)?.id
  }

  /** The change that starts a waiting run or fails it; undefined if it has to wait on. */
  function place(run: Run, { records, account: seen, pollsMissing }: AccountPoll): RunChange | undefined {
    const instance = run.instance ?? rentedFor(run, records)
    if (instance !== undefined && seen.instances[instance]?.state === 'running')
      return { instance, step: 'starting' }
    if (run.instance !== undefined)
      return pollsMissing(run.instance) >= pollsUntilGone
        ? { step: 'failed', problem: instanceGone }
        : undefined
    const { step, problem } = awaited(run) ?? { step: 'failed' }
    if (step !== 'failed' && step !== 'cancelled') return undefined
    return { step: 'failed', problem: rentalFailed(problem?.message) }
  }

  function placed(run: Run | undefined): void {
    if (run?.step !== 'failed') {
      if (run) work(run.id)
      return
    }
    // It failed before it began: an alert, unless the user cancelled the rental it waited for.
    if (awaited(run)?.step === 'cancelled' || run.rentedAgain)
      runAlerts.note(run, `${run.name} was not run`, run.problem?.message)
    else runAlerts.tell(run, notStartedAlert(account, run))
  }

  /** Whether State still has the rental that the run waited for: the page shows both together. */
  function isShown({ rental, attemptSeries }: Run): boolean {
    const shown = store.get().accounts[account]
    return shown?.rentals[attemptSeries ?? rental ?? ''] !== undefined
  }

  /** Applies a poll to an unfinished run. */
  function seen(run: Run, poll: AccountPoll): void {
    const { id, step, instance = 0 } = run
    if (step === 'waiting') {
      const change = asking.has(id) ? undefined : place(run, poll)
      if (change) void runs.update(id, change).then(placed)
      return
    }
    const state = poll.account.instances[instance]?.state
    const change = runAfterPoll(run, state, poll.pollsMissing(instance), poll.at)
    if (change?.problem) void failing.fail(id, change.problem).then(() => wake(id))
    else if (change) void runs.update(id, change).then(() => change.step && wake(id))
  }

  return poll => {
    for (const run of runs.all()) {
      if (run.watchdogStale) void watchdog.tellIfStale(run.id)
      // A run that never began is shown with its rental only, so it goes with that.
      if (!isGoing(run) && run.instance === undefined && !isShown(run)) void dismiss(run.id)
      if (isGoing(run)) seen(run, poll)
    }
    for (const run of runs.all()) if (isGoing(run)) work(run.id)
  }
}

function rentalFailed(why: string | undefined): Problem {
  const message = 'The rental that it waited for came to nothing.'
  return { code: 'rental_failed', message: why === undefined ? message : `${message} ${why}` }
}
