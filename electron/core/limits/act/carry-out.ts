import type { LimitAction } from '#contract/automation/limit.ts'
import type { Problem } from '#contract/problem.ts'
import { endInstance } from '#core/actions/end-instance.ts'
import { lackedBy } from '#core/app/permission.ts'
import { problemOf } from '#core/app/problems.ts'
import type { ServiceClient } from '#service/client.ts'
import type { LimitTarget } from '../decide/choose-targets.ts'

/**
 * Called before a limit stops or destroys: returns what it may do, which is to stop where data would be lost otherwise.
 * Undefined keeps the instance for now, and the limit tries again later.
 */
export type BeforeLimit = (target: LimitTarget) => Promise<LimitAction | undefined>

/** The result: the targets that are done, and why others are not. */
export interface CarriedOut {
  done: readonly LimitTarget[]
  problem?: Problem
}

/**
 * Stops and destroys, one after another. Both can be repeated: an instance that is gone counts as done, whoever ended
 * it. A failure does not keep the others from their turn.
 */
export async function carryOut(
  targets: readonly LimitTarget[],
  context: {
    client: () => ServiceClient
    before: BeforeLimit
    ending: AbortSignal
    /** Whether the limit still wants it: it may be removed or snoozed while data is saved first. */
    wanted: () => boolean
  },
): Promise<CarriedOut> {
  const done: LimitTarget[] = []
  let problem: Problem | undefined
  for (const target of targets) {
    try {
      const action = await context.before(target)
      if (action === undefined) {
        problem ??= notSaved
        continue
      }
      if (context.ending.aborted || !context.wanted()) break
      const wasThere = await endInstance(context.client(), target.instance, action, context.ending)
      done.push(wasThere ? { ...target, action } : target)
    } catch (error) {
      problem ??= lackedBy(error, 'instance_write') ?? problemOf(error)
    }
  }
  return { done, problem }
}

const notSaved: Problem = {
  code: 'not_saved',
  message: 'Its files are not saved yet, so the instance is kept.',
}
