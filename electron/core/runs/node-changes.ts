import { isYetToEnd } from '#contract/automation/run.ts'
import type { Problem } from '#contract/problem.ts'
import { failed, over, type RunChange, settled } from './changes.ts'
import { isWorker, type Run, runCostBy } from './model.ts'
import { otherNode } from './node-decide.ts'

/**
 * A node that fails: its machine is taken back, unless it is the first and its command began. That one downloads what
 * results there are, and is stopped with its files, as any failed run. `at`: epoch seconds.
 */
export function nodeFailure(run: Run, problem: Problem, at: number): RunChange {
  const { step, begun, outcome } = run
  const hasBegun = !isYetToEnd(run) || (step === 'running' && begun === true)
  if (!isWorker(run) && hasBegun) {
    if (outcome || problem.code !== otherNode) return failed(run, problem, at)
    const change: RunChange = { outcome: { failedAt: step, problem }, afterwards: 'stop' }
    return { ...change, ...settled({ ...run, ...change }, at) }
  }
  return {
    step: 'failed',
    failedAt: step,
    problem,
    ...takenBack,
    finalAction: run.instance === undefined ? undefined : 'destroy',
    endedAt: at,
    spentBefore: runCostBy(run, at),
    spent: undefined,
  }
}
const takenBack = { withdrawing: true } satisfies RunChange

/** A node whose work is over with the first one: its machine is destroyed, or what is being rented for it. */
export function nodeLeft(run: Run, isDone: boolean, at: number): RunChange {
  return { ...over(run, isDone ? 'done' : 'cancelled', at), ...takenBack }
}
