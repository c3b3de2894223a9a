import { atMoment, moment } from '#contract/format/time.ts'
import type { Problem } from '#contract/problem.ts'
import { costOf } from '#contract/spending/spend-words.ts'
import { whatHappened } from '../alerts/words.ts'
import type { Facts } from '../facts/facts.ts'
import { kindOf } from '../kinds.ts'
import { actsOnce, type Limit, withEvent, withoutWarning } from '../model.ts'
import type { CarriedOut } from './carry-out.ts'

/** Seconds until the next try after that many failures in a row. */
export function limitPauseAfter(failures: number): number {
  return Math.min(600, 15 * 2 ** Math.min(failures, 10))
}

export function limitWarned(limit: Limit, dueAt: number, now: number): Limit {
  return withEvent({ ...limit, warnedAt: now }, now, `Warned: due ${atMoment(dueAt, now)}`)
}

export function limitBlind(limit: Limit, { message }: Problem, now: number): Limit {
  return withEvent(limit, now, message)
}

/** `creditStaleSince`: until when the spending is known, if only the credit was not reported. */
export function limitHeld(
  limit: Limit,
  { dueAt, creditStaleSince }: { dueAt: number; creditStaleSince: number | undefined },
  now: number,
): Limit {
  const why =
    creditStaleSince === undefined
      ? 'the service did not answer'
      : `the service hasn’t reported the credit since ${moment(creditStaleSince, now)}`
  return withEvent({ ...limit, heldAt: now }, now, `Due ${atMoment(dueAt, now)}, but ${why}`)
}

export function limitMissed(limit: Limit, dueAt: number, now: number): Limit {
  const told = withEvent(
    withoutWarning(limit),
    now,
    `Missed: it was due ${atMoment(dueAt, now)}, while Berth was not polling`,
  )
  return actsOnce(limit) ? { ...told, ended: 'missed' } : { ...told, passed: true }
}

/** Ends a limit that has nothing left to act on: as done if it began to act. */
export function limitOver(limit: Limit, now: number, why: string): Limit {
  const did = limit.begunAt !== undefined
  const text = did ? `Done: ${limit.action === 'stop' ? 'it is stopped' : 'it is destroyed'}` : why
  return { ...withEvent(withoutWarning(limit), now, text), ended: did ? 'done' : 'over' }
}

/** A limit after it acted, or tried to. */
export function limitAfterActing(
  limit: Limit,
  { done, problem }: CarriedOut,
  facts: Facts,
  now: number,
): Limit {
  const happened = done.length > 0 ? whatHappened(done, facts.account.instances) : undefined
  const noted = happened
    ? withEvent(
        limit,
        now,
        `${happened}. ${kindOf(limit.condition).reason(limit.condition)} ${figures(limit, facts)}`.trim(),
      )
    : limit
  if (problem) {
    const failures = (limit.failures ?? 0) + 1
    const told = failures === 1 ? withEvent(noted, now, problem.message) : noted
    return { ...told, failures, problem, retryAt: now + limitPauseAfter(failures) }
  }
  const { idleSince: _, ...calm } = withoutWarning(noted)
  return actsOnce(limit) ? { ...calm, ended: 'done' } : calm
}

/** The observed figures, for the limit's history. */
function figures({ condition, instance }: Limit, facts: Facts): string {
  const { seen } = kindOf(condition)
  if (seen) return seen(condition, facts)
  const one = facts.account.instances[instance ?? '']
  return one ? `It cost ${costOf([one])}.` : ''
}
