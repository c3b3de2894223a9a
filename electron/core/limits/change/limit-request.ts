import type { SnoozeMinutes } from '#contract/automation/limit.ts'
import {
  type LimitCondition,
  type LimitRequest,
  limitKinds,
  type RentalStop,
} from '#contract/automation/limit-kinds.ts'
import { money } from '#contract/format/money.ts'
import { moment } from '#contract/format/time.ts'
import { BerthError } from '#contract/problem.ts'
import { type Micros, micros } from '#contract/spending/money.ts'
import { isDeepEqual } from '#core/state/same.ts'
import { type Limit, withEvent, withoutWarning } from '../model.ts'

/** A limit as requested. */
export interface LimitSettings {
  instance?: number
  when: LimitRequest
  action: Limit['action']
}

/** The furthest moment, in seconds ahead. A clock that is wrong by more is noticed by it. */
const furthest = 366 * 86_400

/** A new limit at `now`, epoch seconds of the account's time. Throws `invalid_argument`. */
export function newLimit(
  { instance, when, action }: LimitSettings,
  rest: Pick<Limit, 'id' | 'warning' | 'missed'>,
  now: number,
): Limit {
  const forAccount = limitKinds[when.kind].on === 'account'
  if (forAccount && instance !== undefined)
    throw refused('Budgets and credit are limits of the whole account.', 'when.kind')
  if (!forAccount && instance === undefined) throw refused('Choose the instance that it limits.', 'instance')
  return { ...rest, instance, condition: conditionOf(when, now), action, setAt: now, history: [] }
}

/**
 * A limit that replaces another keeps its history. With the same condition it also keeps a snooze, and how long its
 * instance has been idle.
 */
export function changedLimit(limit: Limit, before: Limit, sentence: string, now: number): Limit {
  const { targets, snoozedUntil, idleSince, rental } = before
  const goesOn = isDeepEqual(limit.condition, before.condition)
  const changed = {
    ...limit,
    ...(targets && { targets }),
    ...(rental && { rental }),
    ...(goesOn && snoozedUntil !== undefined && { snoozedUntil }),
    ...(goesOn && idleSince !== undefined && { idleSince }),
    history: before.history,
  }
  return withEvent(changed, now, `Changed. Before: ${sentence}`)
}

/** A duration starts again. */
function switchedOn(limit: Limit, now: number): Limit {
  const { ended: _ended, snoozedUntil: _snoozedUntil, idleSince: _idleSince, ...rest } = withoutWarning(limit)
  return { ...rest, condition: conditionOf(limit.condition, now) }
}

/** Returns `limit` itself without a change. Throws `limit_ended`, and `invalid_argument` for a time that has passed. */
export function switched(limit: Limit, on: boolean, now: number): Limit {
  if (limit.ended && limit.ended !== 'off') throw endedAlready()
  if (on === (limit.ended === undefined)) return limit
  const next = on ? switchedOn(limit, now) : { ...withoutWarning(limit), ended: 'off' as const }
  return withEvent(next, now, on ? 'Switched on' : 'Switched off')
}

/** Postpones a limit, presently due at `dueAt`; null ends the snooze. Throws `limit_off` and `limit_ended`. */
export function snoozed(
  limit: Limit,
  minutes: SnoozeMinutes | null,
  dueAt: number | undefined,
  now: number,
): Limit {
  if (limit.ended) throw limit.ended === 'off' ? isOff() : endedAlready()
  const { snoozedUntil: _, ...awake } = withoutWarning(limit)
  if (minutes === null) return withEvent(awake, now, 'Snooze ended')
  const snoozedUntil = Math.max(now, dueAt ?? now) + minutes * 60
  return withEvent({ ...awake, snoozedUntil }, now, `Snoozed until ${moment(snoozedUntil, now)}`)
}

/** Seconds ahead at which the limits of rentals warn. */
const rentalWarning = 900

/** The limit of a rental's stop condition. */
export function limitOfRental(
  stop: RentalStop,
  { id, instance, rental }: Pick<Limit, 'id' | 'instance' | 'rental'>,
  now: number,
): Limit {
  const when = stop.kind === 'cost' ? { kind: stop.kind, limit: micros(stop.dollars) } : stop
  const rest = { id, warning: rentalWarning, missed: 'act' } as const
  return { ...newLimit({ instance, when, action: 'stop' }, rest, now), ...(rental && { rental }) }
}

/**
 * The limit for a replacement: the limit was set for the work, so the time and the money that went before count. `spent`:
 * by the instance that it replaces, in micro-dollars.
 */
export function takenOver(
  { condition, action, warning, missed, snoozedUntil, instance }: Limit,
  place: Pick<Limit, 'id' | 'instance' | 'rental'>,
  spent: Micros,
  now: number,
): Limit {
  const left =
    condition.kind === 'cost'
      ? { kind: condition.kind, limit: Math.max(0, condition.limit - spent) }
      : condition
  const limit = { ...place, condition: left, action, warning, missed, snoozedUntil, setAt: now, history: [] }
  const before = condition.kind === 'cost' ? `, which had cost ${money(spent)}` : ''
  return withEvent(limit, now, `Taken over from #${instance}${before}`)
}

/** The limit of a started instance: as long, or as much beyond the `spent` micro-dollars, as the one that has ended. */
export function setAgain(
  { instance, condition, action, warning, missed }: Limit,
  id: string,
  spent: Micros,
  now: number,
): Limit {
  const next =
    condition.kind === 'cost'
      ? { ...condition, limit: spent + condition.limit - (condition.from ?? 0), from: spent }
      : conditionOf(condition, now)
  return { id, instance, condition: next, action, warning, missed, setAt: now, history: [] }
}

function conditionOf(when: LimitRequest | LimitCondition, now: number): LimitCondition {
  if (when.kind === 'duration') return { ...when, from: now }
  if (when.kind === 'time' && when.at <= now) throw refused('That time has passed already.', 'when.at')
  if (when.kind === 'time' && when.at > now + furthest)
    throw refused('That is more than a year ahead.', 'when.at')
  return when
}

function endedAlready(): BerthError {
  return new BerthError({
    code: 'limit_ended',
    message: 'That limit has already acted.',
    advice: 'Set another one.',
  })
}

function isOff(): BerthError {
  return new BerthError({ code: 'limit_off', message: 'That limit is off.', advice: 'Switch it on first.' })
}

function refused(message: string, field: string): BerthError {
  return new BerthError({ code: 'invalid_argument', message, field })
}
