import type { GuardStep, GuardView } from '#contract/automation/guard.ts'
import { guardKinds } from '#contract/automation/guard-kinds.ts'
import { moment } from '#contract/format/time.ts'
import type { Problem } from '#contract/problem.ts'
import { isSpendingUnknown } from '#contract/reading.ts'
import { creditStaleSince } from '../decide/moment.ts'
import type { Facts } from '../facts/facts.ts'
import { kindOf } from '../kinds.ts'
import type { Guard } from '../model.ts'

/** A guard for the page. `dueAt` as of the last poll; `acting` while its requests are pending. */
export function guardView(
  guard: Guard,
  seen: {
    now: number
    dueAt: number | undefined
    acting: boolean
    blind: Problem | undefined
    sentence: string
  },
): GuardView {
  const { id, instance, condition, action, warning, missed, snoozedUntil, history } = guard
  const step = stepOf(guard, seen.acting)
  // If the clock goes back, the snooze applies again.
  const asleep = snoozedUntil !== undefined && snoozedUntil > seen.now
  return {
    id,
    instance,
    condition,
    action,
    warning,
    missed,
    sentence: seen.sentence,
    step,
    dueAt: guard.ended ? undefined : seen.dueAt,
    snoozedUntil: asleep ? snoozedUntil : undefined,
    problem: guard.problem ?? seen.blind,
    history,
  }
}

/** Why the guard cannot observe its condition; undefined if it can. `now`: epoch seconds of the account's time. */
export function blindness(guard: Guard, facts: Facts, now: number): Problem | undefined {
  const { condition, ended } = guard
  if (ended) return undefined
  const blind = kindOf(condition).blindness(guard, facts)
  if (blind || guardKinds[condition.kind].on !== 'account') return blind
  const since = creditStaleSince(guard, facts)
  if (since !== undefined) return creditStale(moment(since, now))
  if (!isSpendingUnknown(facts.account)) return undefined
  return facts.account.credit === undefined ? spendingUnknown : spendingUnseen
}

const spendingUnknown: Problem = {
  code: 'spending_unknown',
  message:
    'The service reports neither the credit nor all spending: this limit counts only the part that it reports.',
  advice: 'Set a time limit.',
}

const spendingUnseen: Problem = {
  code: 'spending_unseen',
  message:
    'The service doesn’t report all spending: this limit can’t look ahead, and follows the credit as it falls.',
  advice: 'Set a time limit as well.',
}

const creditStale = (since: string): Problem => ({
  code: 'credit_stale',
  message: `The service hasn’t reported the credit since ${since}. Until it does, this limit only warns and doesn’t act.`,
  advice: 'Its time is estimated from the prices. If that’s too late, stop the instances yourself.',
})

function stepOf(guard: Guard, acting: boolean): GuardStep {
  if (guard.ended) return guard.ended
  if (acting) return 'acting'
  if (guard.passed) return 'missed'
  if (guard.heldAt !== undefined || guard.failures !== undefined) return 'held'
  return guard.warnedAt === undefined ? 'waiting' : 'warned'
}
