import type { Problem } from '../../contract/problem.ts'
import type { AccountContext, AccountPoll } from '../account-context.ts'
import { rentalOf } from '../instances/mark.ts'
import type { Failovers } from '../renting/attempts/service.ts'
import type { Rentals } from '../renting/rentals/service.ts'
import type { Run } from './model.ts'
import type { RunChange } from './stored-runs.ts'

/** Brings runs together with what is rented for them. */
export interface Placing {
  /** Where a run is to begin, or why it never will; undefined while neither is known. */
  place(run: Run, look: AccountPoll): RunChange | undefined
  /** Whether the user has cancelled what it waited for, and so knows that it will not begin. */
  isCancelled(run: Run): boolean
  /** Whether what it waited for is on the page, which shows the run with it. */
  isShown(run: Run): boolean
}

export function createPlacing(
  { store, account }: Pick<AccountContext, 'store' | 'account'>,
  rentals: Pick<Rentals, 'knows' | 'rented'>,
  failovers: Pick<Failovers, 'find'>,
): Placing {
  /** What it waits for, the failover rather than one of its tries. */
  function awaited({ rental, failover }: Run): { step: string; problem?: Problem } | undefined {
    if (failover !== undefined) return failovers.find(failover)
    return rental !== undefined && rentals.knows(rental) ? rentals.rented(rental) : undefined
  }

  function rentedFor({ rental, failover }: Run, records: AccountPoll['records']): number | undefined {
    const ready = failover === undefined ? undefined : failovers.find(failover)
    if (ready?.step === 'ready') return ready.instance
    if (rental === undefined) return undefined
    return records.find(({ label, extra_env }) => rentalOf(label, extra_env ?? []) === rental)?.id
  }

  return {
    place(run, { records, account: seen }) {
      const instance = run.instance ?? rentedFor(run, records)
      if (instance !== undefined && seen.instances[instance]?.state === 'running')
        return { instance, step: 'starting' }
      if (run.instance !== undefined) return undefined
      const { step, problem } = awaited(run) ?? { step: 'failed' }
      if (step !== 'failed' && step !== 'cancelled') return undefined
      return { step: 'failed', problem: rentalFailed(problem?.message) }
    },
    isCancelled: run => awaited(run)?.step === 'cancelled',
    isShown({ rental, failover }) {
      const shown = store.get().accounts[account]
      return failover === undefined
        ? shown?.rentals[rental ?? ''] !== undefined
        : shown?.failovers[failover] !== undefined
    },
  }
}

function rentalFailed(why: string | undefined): Problem {
  const message = 'The rental that it waited for came to nothing.'
  return { code: 'rental_failed', message: why === undefined ? message : `${message} ${why}` }
}
