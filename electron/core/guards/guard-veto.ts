import type { GuardView } from '#contract/automation/guard.ts'
import { guardReached } from '#contract/automation/guard-kinds.ts'
import { type Starting, stoppersOf } from '#contract/automation/stoppers.ts'
import type { Problem } from '#contract/problem.ts'
import type { AccountView } from '#contract/state.ts'

/**
 * Why Berth starts nothing by itself now: a guard would stop it at the next poll, and only its disk's bill would
 * remain. Undefined if no guard would. `now` in epoch seconds of the account's time.
 */
export function guardVeto(
  account: AccountView | undefined,
  starting: Starting,
  now: number,
): Problem | undefined {
  const guard = account && stoppersOf(account, starting, now)[0]
  return (
    guard && {
      code: heldByGuard,
      message: `Waits: ${guardReached(guard.condition)}, and its limit would stop it at once.`,
      advice: 'It continues when that is over. To continue sooner, snooze or change the limit.',
    }
  )
}

/** The problem code of anything that waits for a guard. */
export const heldByGuard = 'held_by_guard'

/** The problem of an instance that a guard has stopped or is about to. */
export function stoppedBy(guard: Pick<GuardView, 'condition'>): Problem {
  return {
    code: 'stopped_by_guard',
    message: `A limit in Berth stops it: ${guardReached(guard.condition)}.`,
    advice: 'Nothing is left of it.',
  }
}

/**
 * The guard that stops everything, or this instance, at the next poll. Guards on the credit do not count, as they stop
 * what loses least, which may be another one.
 */
export function stopperOf(
  account: AccountView | undefined,
  instance: number,
  now: number,
): GuardView | undefined {
  const stoppers = account ? stoppersOf(account, { instance, more: 0 }, now) : []
  return stoppers.find(({ condition }) => condition.kind !== 'credit')
}
