import type { RunView } from '#contract/automation/run.ts'
import type { Problem } from '#contract/problem.ts'
import type { Run } from './model.ts'

/** Why a run does not continue, and when it is retried, in epoch seconds of the account's time. */
export interface Hindrance {
  problem: Problem
  nextTryAt?: number
}

export function runView(run: Run, hindrance: Hindrance | undefined): RunView {
  const {
    afterwardsIfStuck: _,
    outputAt: __,
    loadAt: ___,
    unreachedSince,
    unreachedAlerted: ____,
    rentedAgain: _____,
    endedByUser: ______,
    ...view
  } = run
  const { problem, nextTryAt } = hindrance ?? {}
  return {
    ...view,
    fetched: run.fetched ?? false,
    interrupted: run.interrupted ?? false,
    watchdogStale: run.watchdogStale ?? false,
    unreached: unreachedSince === undefined ? undefined : { since: unreachedSince, nextTryAt },
    problem: problem ?? run.problem,
  }
}
