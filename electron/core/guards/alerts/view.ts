import type { GuardStep, GuardView } from '../../../contract/automation/guard.ts'
import { guardKinds } from '../../../contract/automation/guard-kinds.ts'
import { moment } from '../../../contract/format/time.ts'
import type { Problem } from '../../../contract/problem.ts'
import { isSpendingUnknown } from '../../../contract/reading.ts'
import { creditStaleSince } from '../decide/moment.ts'
import type { Facts } from '../facts/facts.ts'
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
  if (condition.kind === 'idle') {
    const instance = facts.account.instances[guard.instance ?? '']
    const told = instance?.gpuLoad !== undefined || facts.loads.has(guard.instance ?? 0)
    return instance?.state === 'running' && !told ? loadUnknown : undefined
  }
  const { account } = facts
  if (condition.kind === 'credit' && account.credit === undefined)
    return account.creditUntold ? creditUntold : creditUnknown
  if (condition.kind === 'cost')
    return account.instances[guard.instance ?? '']?.costUnknown ? costUnknown : undefined
  const since = creditStaleSince(guard, facts)
  if (since !== undefined) return creditStale(moment(since, now))
  if (guardKinds[condition.kind].on !== 'account' || !isSpendingUnknown(account)) return undefined
  return account.credit === undefined ? spendingUnknown : spendingUnseen
}

const costUnknown: Problem = {
  code: 'cost_unknown',
  message: 'The service does not tell what it costs, so this guard cannot act.',
  advice: 'Set one that goes by time.',
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

const creditUnknown: Problem = {
  code: 'credit_unknown',
  message: 'The credit is not known, so this guard cannot act.',
  advice: 'Enter a key that may read the account: one with user_read.',
}

const creditUntold: Problem = {
  code: 'credit_unknown',
  message: 'The service does not tell the credit, so this guard cannot act.',
  advice: 'Set guards that go by time, or by what is spent.',
}

const creditStale = (since: string): Problem => ({
  code: 'credit_stale',
  message: `The service has not told the credit since ${since}: until it does, this guard only says when it is due.`,
  advice: 'Its moment is reckoned by the prices. Stop what runs yourself where that is too late.',
})

const loadUnknown: Problem = {
  code: 'no_gpu_load',
  message: 'Its GPU load is not known, so this guard cannot act.',
  advice: 'The service does not tell it, and it could not be asked over SSH. Open a terminal to see why.',
}

function stepOf(guard: Guard, acting: boolean): GuardStep {
  if (guard.ended) return guard.ended
  if (acting) return 'acting'
  if (guard.passed) return 'missed'
  if (guard.heldAt !== undefined || guard.failures !== undefined) return 'held'
  return guard.warnedAt === undefined ? 'waiting' : 'warned'
}
