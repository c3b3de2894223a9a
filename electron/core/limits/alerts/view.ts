import type { LimitStep, LimitView } from '#contract/automation/limit.ts'
import { limitKinds } from '#contract/automation/limit-kinds.ts'
import { moment } from '#contract/format/time.ts'
import type { Problem } from '#contract/problem.ts'
import { isSpendingUnknown } from '#contract/reading.ts'
import { creditStaleSince } from '../decide/moment.ts'
import type { Facts } from '../facts/facts.ts'
import { kindOf } from '../kinds.ts'
import type { Limit } from '../model.ts'

/** A limit for the page. `dueAt` as of the last poll; `acting` while its requests are pending. */
export function limitView(
  limit: Limit,
  seen: {
    now: number
    dueAt: number | undefined
    acting: boolean
    blind: Problem | undefined
    sentence: string
  },
): LimitView {
  const { id, instance, condition, action, warning, missed, snoozedUntil, history } = limit
  const step = stepOf(limit, seen.acting)
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
    dueAt: limit.ended ? undefined : seen.dueAt,
    snoozedUntil: asleep ? snoozedUntil : undefined,
    problem: limit.problem ?? seen.blind,
    history,
  }
}

/** Why the limit cannot observe its condition; undefined if it can. `now`: epoch seconds of the account's time. */
export function blindness(limit: Limit, facts: Facts, now: number): Problem | undefined {
  const { condition, ended } = limit
  if (ended) return undefined
  const blind = kindOf(condition).blindness(limit, facts)
  if (blind || limitKinds[condition.kind].on !== 'account') return blind
  const since = creditStaleSince(limit, facts)
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

function stepOf(limit: Limit, acting: boolean): LimitStep {
  if (limit.ended) return limit.ended
  if (acting) return 'acting'
  if (limit.passed) return 'missed'
  if (limit.heldAt !== undefined || limit.failures !== undefined) return 'held'
  return limit.warnedAt === undefined ? 'waiting' : 'warned'
}
