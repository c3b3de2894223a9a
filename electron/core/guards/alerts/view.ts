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
    'The service tells neither the credit nor all that is spent: this guard counts only what it tells.',
  advice: 'Set guards that go by time.',
}

const spendingUnseen: Problem = {
  code: 'spending_unseen',
  message:
    'The service does not tell all that is spent: this guard cannot see ahead, and goes by how the credit falls.',
  advice: 'Set guards that go by time, too.',
}

const creditStale = (since: string): Problem => ({
  code: 'credit_stale',
  message: `The service has not told the credit since ${since}: until it does, this guard only says when it is due.`,
  advice: 'Its moment is reckoned by the prices. Stop what runs yourself where that is too late.',
})

function stepOf(guard: Guard, acting: boolean): GuardStep {
  if (guard.ended) return guard.ended
  if (acting) return 'acting'
  if (guard.passed) return 'missed'
  if (guard.heldAt !== undefined || guard.failures !== undefined) return 'held'
  return guard.warnedAt === undefined ? 'waiting' : 'warned'
}
