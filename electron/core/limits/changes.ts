import {
  canBeAsleep,
  type Limit,
  lessSpent,
  limitKinds,
  type SnoozeMinutes,
} from '#shared/automation/limit.ts'
import { defaultWarning } from '#shared/automation/limit-defaults.ts'
import { money } from '#shared/format/money.ts'
import { moment } from '#shared/format/time.ts'
import { BerthError, type Problem } from '#shared/problem.ts'
import { type Micros, micros } from '#shared/spending/money.ts'
import { isDeepEqual } from '../storage/store.ts'
import type { Facts } from './facts.ts'
import { mostUntil } from './limit-due.ts'
import { type StoredLimit, withEvent, withoutWarning } from './model.ts'

/** A limit as requested; without `instance`, one on the whole account. */
export interface LimitSettings extends Limit {
  instance?: number
  /** Keeps the condition and the moment of the limit that it replaces. */
  sameWhen?: boolean
}

/** The furthest moment, in seconds ahead. A clock that is wrong by more is noticed by it. */
const furthest = 366 * 86_400

/** A new limit at `now`, epoch seconds of the account's time. Throws `invalid_argument`. */
export function newLimit(
  { instance, when, action, asleep, most }: LimitSettings,
  rest: Pick<StoredLimit, 'id' | 'warning' | 'missed'>,
  now: number,
): StoredLimit {
  const forAccount = limitKinds[when.kind].on === 'account'
  if (forAccount && instance !== undefined)
    throw refused('Budgets and credit are limits of the whole account.', 'when.kind')
  if (!forAccount && instance === undefined) throw refused('Choose the instance that it limits.', 'instance')
  if (asleep && !canBeAsleep(when)) throw refused(ofOneInstance, 'asleep')
  mustBeAhead(when, now)
  const shown = when.kind === 'duration' && most ? { most } : {}
  const watched = asleep || when.kind === 'away'
  return { ...rest, instance, when, action, asleep: watched, ...shown, setAt: now, history: [] }
}

export const ofOneInstance = 'A watchdog only knows its own instance.'

/** Throws `invalid_argument` where the watchdog already does something else. `instead`: the limit that it replaces. */
export function needOneAction(
  limit: StoredLimit,
  all: readonly StoredLimit[],
  instead: string | undefined,
): void {
  if (!limit.asleep) return
  const other = all.find(
    ({ id, instance, asleep, ended, action }) =>
      id !== instead && instance === limit.instance && asleep && !ended && action !== limit.action,
  )
  if (!other) return
  const does = other.action === 'stop' ? 'stops' : 'destroys'
  throw refused(
    `The watchdog already ${does} the instance for another limit, and can only do one of the two.`,
    'asleep',
  )
}

/**
 * A limit that replaces another keeps its history. With the same condition it also keeps a snooze, and how long its
 * instance has been idle.
 */
export function changedLimit(
  limit: StoredLimit,
  before: StoredLimit,
  sentence: string,
  now: number,
): StoredLimit {
  const { targets, snoozedUntil, idleSince, rental } = before
  const goesOn = limit.when.kind !== 'duration' && isDeepEqual(limit.when, before.when)
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
function switchedOn(limit: StoredLimit, now: number): StoredLimit {
  const { ended, snoozedUntil, idleSince, most, ...rest } = withoutWarning(limit)
  mustBeAhead(limit.when, now)
  return { ...rest, setAt: now }
}

/** Returns `limit` itself without a change. Throws `limit_ended`, and `invalid_argument` for a time that has passed. */
export function switched(limit: StoredLimit, on: boolean, now: number): StoredLimit {
  if (limit.ended && limit.ended !== 'off') throw new BerthError(endedAlready)
  if (on === (limit.ended === undefined)) return limit
  const next = on ? switchedOn(limit, now) : { ...withoutWarning(limit), ended: 'off' as const }
  return withEvent(next, now, on ? 'Switched on' : 'Switched off')
}

/** Postpones a limit, presently due at `dueAt`; null ends the snooze. Throws `limit_off` and `limit_ended`. */
export function snoozed(
  limit: StoredLimit,
  minutes: SnoozeMinutes | null,
  dueAt: number | undefined,
  now: number,
  instances: Facts['account']['instances'] = {},
): StoredLimit {
  if (limit.ended) throw new BerthError(limit.ended === 'off' ? isOff : endedAlready)
  const { snoozedUntil: _, ...awake } = withoutWarning(limit)
  if (minutes === null) return withEvent(awake, now, 'Extension taken back')
  const snoozedUntil = Math.max(now, dueAt ?? now) + minutes * 60
  const most = mostUntil(awake.most, instances[awake.instance ?? ''], snoozedUntil)
  return withEvent(
    { ...awake, ...(most && { most }), snoozedUntil },
    now,
    `Extended until ${moment(snoozedUntil, now)}`,
  )
}

/** The limit that was chosen with a rental. */
export function limitOfRental(
  stop: Limit,
  { id, instance, rental }: Pick<StoredLimit, 'id' | 'instance' | 'rental'>,
  now: number,
): StoredLimit {
  const rest = { id, warning: defaultWarning, missed: 'act' } as const
  return { ...newLimit({ instance, ...stop }, rest, now), ...(rental && { rental }) }
}

/**
 * The limit for a replacement: the limit was set for the work, so the time and the money that went before count. `spent`:
 * by the instance that it replaces, in micro-dollars.
 */
export function takenOver(
  { when, action, asleep, most, warning, missed, snoozedUntil, setAt, instance }: StoredLimit,
  place: Pick<StoredLimit, 'id' | 'instance' | 'rental'>,
  spent: Micros,
  now: number,
): StoredLimit {
  const [left] = lessSpent([{ when, action, asleep, ...(most && { most }) }], spent)
  const limit = { ...place, when, action, asleep, ...left, warning, missed, snoozedUntil, setAt, history: [] }
  const before = when.kind === 'cost' ? `, which had cost ${money(spent)}` : ''
  return withEvent(limit, now, `Carried over from #${instance}${before}`)
}

/**
 * The limit of a restarted instance: the same duration as the ended one, or the same amount on top of the `spent`
 * micro-dollars.
 */
export function setAgain(
  { instance, when, action, asleep, warning, missed, spentBefore = 0 }: StoredLimit,
  id: string,
  spent: Micros,
  now: number,
): StoredLimit {
  const next =
    when.kind === 'cost'
      ? { ...when, dollars: (micros(when.dollars) + spent - spentBefore) / 1_000_000 }
      : when
  const before = when.kind === 'cost' ? { spentBefore: spent } : {}
  return { id, instance, when: next, action, asleep, warning, missed, setAt: now, ...before, history: [] }
}

function mustBeAhead(when: Limit['when'], now: number): void {
  if (when.kind !== 'time') return
  if (when.at <= now) throw refused('That time has already passed.', 'when.at')
  if (when.at > now + furthest) throw refused('That is more than a year ahead.', 'when.at')
}

const endedAlready: Problem = {
  code: 'limit_ended',
  message: 'That limit has already acted.',
  advice: 'Set another one.',
}

const isOff: Problem = { code: 'limit_off', message: 'That limit is off.', advice: 'Switch it on first.' }

export function refused(message: string, field: string): BerthError {
  return new BerthError({ code: 'invalid_argument', message, field })
}
