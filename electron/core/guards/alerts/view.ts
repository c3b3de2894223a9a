import type { GuardStep, GuardView } from '../../../contract/automation/guard.ts'
import { moment } from '../../../contract/format/time.ts'
import type { Problem } from '../../../contract/problem.ts'
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
  if (condition.kind === 'credit' && facts.account.credit === undefined) return creditUnknown
  const since = creditStaleSince(guard, facts)
  return since === undefined ? undefined : creditStale(moment(since, now))
}

const creditUnknown: Problem = {
  code: 'credit_unknown',
  message: 'The credit is not known, so this guard cannot act.',
  advice: 'Enter a key that may read the account: one with user_read.',
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
