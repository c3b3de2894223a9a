import type { SnoozeMinutes } from '#contract/automation/guard.ts'
import {
  type GuardCondition,
  type GuardRequest,
  guardKinds,
  type RentalStop,
} from '#contract/automation/guard-kinds.ts'
import { money } from '#contract/format/money.ts'
import { moment } from '#contract/format/time.ts'
import { BerthError } from '#contract/problem.ts'
import { type Micros, micros } from '#contract/spending/money.ts'
import { isDeepEqual } from '#core/state/same.ts'
import { type Guard, withEvent, withoutWarning } from '../model.ts'

/** A guard as requested. */
export interface GuardSettings {
  instance?: number
  when: GuardRequest
  action: Guard['action']
}

/** The furthest moment, in seconds ahead. A clock that is wrong by more is noticed by it. */
const furthest = 366 * 86_400

/** A new guard at `now`, epoch seconds of the account's time. Throws `invalid_argument`. */
export function newGuard(
  { instance, when, action }: GuardSettings,
  rest: Pick<Guard, 'id' | 'warning' | 'missed'>,
  now: number,
): Guard {
  const forAccount = guardKinds[when.kind].on === 'account'
  if (forAccount && instance !== undefined)
    throw refused('Budgets and credit are limits of the whole account.', 'when.kind')
  if (!forAccount && instance === undefined) throw refused('Choose the instance that it limits.', 'instance')
  return { ...rest, instance, condition: conditionOf(when, now), action, setAt: now, history: [] }
}

/**
 * A guard that replaces another keeps its history. With the same condition it also keeps a snooze, and how long its
 * instance has been idle.
 */
export function changedGuard(guard: Guard, before: Guard, sentence: string, now: number): Guard {
  const { targets, snoozedUntil, idleSince, rental } = before
  const goesOn = isDeepEqual(guard.condition, before.condition)
  const changed = {
    ...guard,
    ...(targets && { targets }),
    ...(rental && { rental }),
    ...(goesOn && snoozedUntil !== undefined && { snoozedUntil }),
    ...(goesOn && idleSince !== undefined && { idleSince }),
    history: before.history,
  }
  return withEvent(changed, now, `Changed. Before: ${sentence}`)
}

/** A duration starts again. */
function switchedOn(guard: Guard, now: number): Guard {
  const { ended: _ended, snoozedUntil: _snoozedUntil, idleSince: _idleSince, ...rest } = withoutWarning(guard)
  return { ...rest, condition: conditionOf(guard.condition, now) }
}

/** Returns `guard` itself without a change. Throws `guard_ended`, and `invalid_argument` for a time that has passed. */
export function switched(guard: Guard, on: boolean, now: number): Guard {
  if (guard.ended && guard.ended !== 'off') throw endedAlready()
  if (on === (guard.ended === undefined)) return guard
  const next = on ? switchedOn(guard, now) : { ...withoutWarning(guard), ended: 'off' as const }
  return withEvent(next, now, on ? 'Switched on' : 'Switched off')
}

/** Postpones a guard, presently due at `dueAt`; null ends the snooze. Throws `guard_off` and `guard_ended`. */
export function snoozed(
  guard: Guard,
  minutes: SnoozeMinutes | null,
  dueAt: number | undefined,
  now: number,
): Guard {
  if (guard.ended) throw guard.ended === 'off' ? isOff() : endedAlready()
  const { snoozedUntil: _, ...awake } = withoutWarning(guard)
  if (minutes === null) return withEvent(awake, now, 'Snooze ended')
  const snoozedUntil = Math.max(now, dueAt ?? now) + minutes * 60
  return withEvent({ ...awake, snoozedUntil }, now, `Snoozed until ${moment(snoozedUntil, now)}`)
}

/** Seconds ahead at which the guards of rentals warn. */
const rentalWarning = 900

/** The guard of a rental's stop condition. */
export function guardOfRental(
  stop: RentalStop,
  { id, instance, rental }: Pick<Guard, 'id' | 'instance' | 'rental'>,
  now: number,
): Guard {
  const when = stop.kind === 'cost' ? { kind: stop.kind, limit: micros(stop.dollars) } : stop
  const rest = { id, warning: rentalWarning, missed: 'act' } as const
  return { ...newGuard({ instance, when, action: 'stop' }, rest, now), ...(rental && { rental }) }
}

/**
 * The guard for a replacement: the limit was set for the work, so the time and the money that went before count. `spent`:
 * by the instance that it replaces, in micro-dollars.
 */
export function takenOver(
  { condition, action, warning, missed, snoozedUntil, instance }: Guard,
  place: Pick<Guard, 'id' | 'instance' | 'rental'>,
  spent: Micros,
  now: number,
): Guard {
  const left =
    condition.kind === 'cost'
      ? { kind: condition.kind, limit: Math.max(0, condition.limit - spent) }
      : condition
  const guard = { ...place, condition: left, action, warning, missed, snoozedUntil, setAt: now, history: [] }
  const before = condition.kind === 'cost' ? `, which had cost ${money(spent)}` : ''
  return withEvent(guard, now, `Taken over from #${instance}${before}`)
}

/** The limit of a started instance: as long, or as much beyond the `spent` micro-dollars, as the one that has ended. */
export function setAgain(
  { instance, condition, action, warning, missed }: Guard,
  id: string,
  spent: Micros,
  now: number,
): Guard {
  const next =
    condition.kind === 'cost'
      ? { ...condition, limit: spent + condition.limit - (condition.from ?? 0), from: spent }
      : conditionOf(condition, now)
  return { id, instance, condition: next, action, warning, missed, setAt: now, history: [] }
}

function conditionOf(when: GuardRequest | GuardCondition, now: number): GuardCondition {
  if (when.kind === 'duration') return { ...when, from: now }
  if (when.kind === 'time' && when.at <= now) throw refused('That time has passed already.', 'when.at')
  if (when.kind === 'time' && when.at > now + furthest)
    throw refused('That is more than a year ahead.', 'when.at')
  return when
}

function endedAlready(): BerthError {
  return new BerthError({
    code: 'guard_ended',
    message: 'That limit has already acted.',
    advice: 'Set another one.',
  })
}

function isOff(): BerthError {
  return new BerthError({ code: 'guard_off', message: 'That limit is off.', advice: 'Switch it on first.' })
}

function refused(message: string, field: string): BerthError {
  return new BerthError({ code: 'invalid_argument', message, field })
}
