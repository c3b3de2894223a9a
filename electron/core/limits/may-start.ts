import type { LimitView } from '#shared/automation/limit.ts'
import { reasonClause } from '#shared/automation/limit-words.ts'
import { type Starting, stoppersOf } from '#shared/automation/limits-that-block.ts'
import type { Problem } from '#shared/problem.ts'
import type { AccountView } from '#shared/state.ts'

/**
 * Why Berth starts nothing automatically now: a limit would stop it at the next poll, and only its disk's bill would
 * remain. Undefined if no limit would. `now` in epoch seconds of the account's time.
 */
export function blockingAccountLimit(
  account: AccountView | undefined,
  starting: Starting,
  now: number,
): Problem | undefined {
  const limit = account && stoppersOf(account, starting, now)[0]
  return (
    limit && {
      code: heldByLimit,
      message: `Waiting: ${reasonClause(limit.when)}, so its limit would stop it at once.`,
      advice: 'It continues when that changes. To continue sooner, extend or change the limit.',
    }
  )
}

/** The problem code of anything that waits for a limit. */
export const heldByLimit = 'held_by_limit'

/** The problem of an instance that a limit has stopped or is about to. */
export function stoppedBy(limit: Pick<LimitView, 'when'>): Problem {
  return {
    code: 'stopped_by_limit',
    message: `A limit in Berth stops it: ${reasonClause(limit.when)}.`,
    advice: 'It was destroyed completely.',
  }
}

/**
 * The limit that stops everything, or this instance, at the next poll. Limits on the credit do not count, as they stop
 * the instance that is cheapest to stop, which may be another one.
 */
export function blockingLimit(
  account: AccountView | undefined,
  instance: number,
  now: number,
): LimitView | undefined {
  const stoppers = account ? stoppersOf(account, { instance, more: 0 }, now) : []
  return stoppers.find(({ when }) => when.kind !== 'credit')
}
