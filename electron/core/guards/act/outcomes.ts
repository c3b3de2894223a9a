import { atMoment, moment } from '#contract/format/time.ts'
import type { Problem } from '#contract/problem.ts'
import { costOf } from '#contract/spending/spend-words.ts'
import { whatHappened } from '../alerts/words.ts'
import type { Facts } from '../facts/facts.ts'
import { kindOf } from '../kinds.ts'
import { actsOnce, type Guard, withEvent, withoutWarning } from '../model.ts'
import type { CarriedOut } from './carry-out.ts'

/** Seconds until the next try after that many failures in a row. */
export function guardPauseAfter(failures: number): number {
  return Math.min(600, 15 * 2 ** Math.min(failures, 10))
}

export function guardWarned(guard: Guard, dueAt: number, now: number): Guard {
  return withEvent({ ...guard, warnedAt: now }, now, `Warned: due ${atMoment(dueAt, now)}`)
}

export function guardBlind(guard: Guard, { message }: Problem, now: number): Guard {
  return withEvent(guard, now, message)
}

/** `creditStaleSince`: until when the spending is known, if only the credit was not reported. */
export function guardHeld(
  guard: Guard,
  { dueAt, creditStaleSince }: { dueAt: number; creditStaleSince: number | undefined },
  now: number,
): Guard {
  const why =
    creditStaleSince === undefined
      ? 'the service did not answer'
      : `the service hasn’t reported the credit since ${moment(creditStaleSince, now)}`
  return withEvent({ ...guard, heldAt: now }, now, `Due ${atMoment(dueAt, now)}, but ${why}`)
}

export function guardMissed(guard: Guard, dueAt: number, now: number): Guard {
  const told = withEvent(
    withoutWarning(guard),
    now,
    `Missed: it was due ${atMoment(dueAt, now)}, while Berth was not polling`,
  )
  return actsOnce(guard) ? { ...told, ended: 'missed' } : { ...told, passed: true }
}

/** Ends a guard that has nothing left to act on: as done if it began to act. */
export function guardOver(guard: Guard, now: number, why: string): Guard {
  const did = guard.begunAt !== undefined
  const text = did ? `Done: ${guard.action === 'stop' ? 'it is stopped' : 'it is destroyed'}` : why
  return { ...withEvent(withoutWarning(guard), now, text), ended: did ? 'done' : 'over' }
}

/** A guard after it acted, or tried to. */
export function guardAfterActing(
  guard: Guard,
  { done, problem }: CarriedOut,
  facts: Facts,
  now: number,
): Guard {
  const happened = done.length > 0 ? whatHappened(done, facts.account.instances) : undefined
  const noted = happened
    ? withEvent(
        guard,
        now,
        `${happened}. ${kindOf(guard.condition).reason(guard.condition)} ${figures(guard, facts)}`.trim(),
      )
    : guard
  if (problem) {
    const failures = (guard.failures ?? 0) + 1
    const told = failures === 1 ? withEvent(noted, now, problem.message) : noted
    return { ...told, failures, problem, retryAt: now + guardPauseAfter(failures) }
  }
  const { idleSince: _, ...calm } = withoutWarning(noted)
  return actsOnce(guard) ? { ...calm, ended: 'done' } : calm
}

/** The observed figures, for the guard's history. */
function figures({ condition, instance }: Guard, facts: Facts): string {
  const { seen } = kindOf(condition)
  if (seen) return seen(condition, facts)
  const one = facts.account.instances[instance ?? '']
  return one ? `It cost ${costOf([one])}.` : ''
}
