import type { RunView } from '#contract/automation/run.ts'
import type { SyncProgress } from '#contract/instance/sync.ts'
import type { Problem } from '#contract/problem.ts'
import type { Run } from './model.ts'

/** Why a run does not continue, and when it is retried, in epoch seconds of the account's time. */
export interface Hindrance {
  problem: Problem
  nextTryAt?: number
}

export function runView(
  run: Run,
  { hindrance, sync }: { hindrance?: Hindrance; sync?: SyncProgress },
): RunView {
  const {
    afterwardsIfStuck: _,
    outputAt: __,
    loadAt: ___,
    unreachedSince,
    unreachedAlerted: ____,
    rentedAgain: _____,
    endedByUser: ______,
    as: _______,
    changingSince: ________,
    ...view
  } = run
  const { problem, nextTryAt } = hindrance ?? {}
  return {
    ...view,
    fetched: run.fetched ?? false,
    interrupted: run.interrupted ?? false,
    watchdogStale: run.watchdogStale ?? false,
    unreached: unreachedSince === undefined ? undefined : { since: unreachedSince, nextTryAt },
    sync,
    problem: problem ?? run.problem,
  }
}
