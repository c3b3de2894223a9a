import type { Problem } from '../../contract/problem.ts'
import type { ServiceClient } from '../../service/client.ts'
import { ServiceError } from '../../service/service-error.ts'
import { lackedBy } from '../keys/permission.ts'
import { problemOf } from '../problems.ts'
import type { Target } from './decide/least-loss.ts'

/** Asked before a guard stops or destroys: false keeps the instance for now, and the guard tries again later. */
export type BeforeGuard = (target: Target) => Promise<boolean>

/** What came of it: the targets that are done, and why the rest are not. */
export interface CarriedOut {
  done: readonly Target[]
  problem?: Problem
}

/**
 * Stops and destroys, one after another. Both are harmless to repeat: what is gone already, by this Berth before it
 * was killed or by another, counts as done. The first failure does not keep the others from their turn.
 */
export async function carryOut(
  targets: readonly Target[],
  around: {
    client: () => ServiceClient
    before: BeforeGuard
    ending: AbortSignal
    /** Whether the guard still wants it: it may be removed or snoozed while something is saved first. */
    wanted: () => boolean
  },
): Promise<CarriedOut> {
  const done: Target[] = []
  let problem: Problem | undefined
  for (const target of targets) {
    try {
      if (!(await around.before(target))) {
        problem ??= notSaved
        continue
      }
      if (around.ending.aborted || !around.wanted()) break
      const { instances } = around.client()
      const options = { signal: around.ending }
      if (target.action === 'stop') await instances.stop(target.instance, options)
      else await instances.destroy(target.instance, options)
      done.push(target)
    } catch (error) {
      if (error instanceof ServiceError && error.status === 404) done.push(target)
      else problem ??= lackedBy(error, 'instance_write') ?? problemOf(error)
    }
  }
  return { done, ...(problem ? { problem } : {}) }
}

const notSaved: Problem = {
  code: 'not_saved',
  message: 'What is to be saved before is not safe yet, so the instance is kept.',
}
