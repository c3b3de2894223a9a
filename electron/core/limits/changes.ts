import {
  canBeAsleep,
  isSetAgain,
  type Limit,
  type LimitPreview,
  limitKinds,
  type SnoozeMinutes,
} from '#shared/automation/limit.ts'
import { defaultWarning } from '#shared/automation/limit-defaults.ts'
import { limitSentence } from '#shared/automation/limit-words.ts'
import { conditionsOf, type WatchdogRequest } from '#shared/automation/watchdog.ts'
import { spentBy } from '#shared/derived.ts'
import { moment } from '#shared/format/time.ts'
import { BerthError, type Problem } from '#shared/problem.ts'
import type { AccountContext } from '../account-context.ts'
import { isDeepEqual } from '../storage/store.ts'
import type { LimitAlerts } from './alerts.ts'
import { setAgain, takenOver } from './carried-over.ts'
import { dueOf } from './decide.ts'
import type { Facts, LimitInputs } from './facts.ts'
import { mostUntil } from './limit-due.ts'
import { previewOf } from './limit-view.ts'
import { endOf, type StoredLimit, type StoredLimits, withEvent, withoutWarning } from './model.ts'

export type LimitChanges = ReturnType<typeof createLimitChanges>

/** The user's changes to an account's limits, and the limits of rentals. */
export function createLimitChanges(
  { newId, now, poll, endings }: Pick<AccountContext, 'newId' | 'now' | 'poll' | 'endings'>,
  {
    limits,
    limitAlerts,
    changed,
    apply,
    cameWith,
    known,
    look,
    show,
  }: {
    limits: StoredLimits
    limitAlerts: LimitAlerts
    /** Called with the instance of each changed limit. */
    changed: (instance: number) => void
    /** Awaited where a limit is to count while this computer sleeps: throws where no retry would help. */
    apply: (instance: number) => Promise<void>
    /** A new instance has a watchdog from its start script, which goes by that request. */
    cameWith: (instance: number, request: WatchdogRequest) => Promise<void>
    known: () => LimitInputs
    /** Reads an instance's GPU load, where nothing is known of it. */
    look: (instance: number | undefined) => Promise<void>
    show: () => void
  },
) {
  const sentenceOf = (limit: StoredLimit) => limitSentence(limit, limitAlerts.scene(now()).instances, now())

  function say(text: string, limit: StoredLimit, by: 'user' | 'berth' = 'user'): void {
    limitAlerts.note(by, text, sentenceOf(limit), limit.instance)
    show()
  }

  const settle = ({ instance }: StoredLimit) => void (instance !== undefined && changed(instance))

  /** Asks for the watchdog of a limit; `undo` where no retry would help. */
  async function ask({ instance = 0 }: StoredLimit, undo: () => Promise<unknown>): Promise<void> {
    try {
      await apply(instance)
    } catch (error) {
      await undo()
      changed(instance)
      show()
      throw error
    }
  }

  /** The limit as set, in the place of the one before. */
  function limitAfter(
    settings: LimitSettings,
    rest: Pick<StoredLimit, 'id' | 'warning' | 'missed'>,
    before: StoredLimit | undefined,
    at: number,
  ): StoredLimit {
    if (!before) return newLimit(settings, rest, at)
    // An ended limit starts again.
    if (!settings.sameWhen || before.ended)
      return changedLimit(newLimit(settings, rest, at), before, sentenceOf(before), at)
    const { when, setAt, snoozedUntil, most } = before
    const same = newLimit({ ...settings, when, most }, rest, setAt)
    return changedLimit({ ...same, snoozedUntil }, before, sentenceOf(before), at)
  }

  return {
    /** Resolves with the limit's id once it is on disk. Throws `invalid_argument` or `not_written`. */
    async set(
      { warning, missed, ...settings }: LimitSettings & Pick<StoredLimit, 'warning' | 'missed'>,
      instead?: string,
    ): Promise<string> {
      const before = instead === undefined ? undefined : limits.get(instead)
      const at = now()
      const limit = limitAfter(settings, { id: `g${newId()}`, warning, missed }, before, at)
      needOneAction(limit, limits.all(), instead)
      if (instead !== undefined) await endings.takeBackOf(instead)
      await limits.add(limit, instead)
      if (limit.asleep)
        await ask(limit, () => (before ? limits.add(before, limit.id) : limits.remove(limit.id)))
      else settle(limit)
      if (instead !== undefined) limitAlerts.withdraw(instead)
      say(before ? 'Changed a limit' : 'Set a limit', limit)
      void poll()
      return limit.id
    },
    async preview(settings: LimitSettings, instead?: string): Promise<LimitPreview> {
      if (settings.when.kind === 'idle') await look(settings.instance)
      const before = instead === undefined ? undefined : limits.get(instead)
      const at = now()
      const rest = { id: 'g0000000000000000', warning: 0, missed: 'act' } as const
      return previewOf(limitAfter(settings, rest, before, at), known(), at)
    },
    /** A limit that is off does nothing. Throws `limit_ended`, or `invalid_argument` for a time that has passed. */
    async switch(id: string, on: boolean): Promise<void> {
      const limit = limits.get(id)
      const next = switched(limit, on, now())
      if (next === limit) return
      if (!on) await endings.takeBackOf(id)
      await limits.put(next)
      if (!on) limitAlerts.withdraw(id)
      settle(limit)
      say(`Switched a limit ${on ? 'on' : 'off'}`, next)
      void poll()
    },
    /**
     * Sets a rental's limits on its instance, once: the agreed ones, or the remaining limits of the instance it `replaces`.
     * Those that it has go with it, where it has another instance now. `since`: when it was asked for, epoch seconds;
     * `brought`: what the watchdog in its start script goes by. A failed write does not reject.
     */
    async limitRental(
      rental: string,
      instance: number,
      agreed: readonly Limit[],
      {
        replaces,
        since = now(),
        brought,
      }: { replaces?: number | undefined; since?: number; brought?: WatchdogRequest | undefined } = {},
    ): Promise<void> {
      if (brought) await cameWith(instance, brought)
      const own = limits
        .all()
        .filter(limit => limit.rental === rental && (!limit.ended || limit.ended === 'gone'))
      // After a kill the limits may exist already.
      if (own.some(limit => limit.instance === instance && !limit.ended)) return
      // Those of an instance that turned out to be none, or another's.
      if (own.some(limit => limit.instance !== instance)) {
        await limits.put(...own.map(limit => ({ ...withoutWarning(limit), instance, ended: undefined })))
        for (const one of [...own.map(limit => limit.instance ?? instance), instance]) changed(one)
        return
      }
      const at = now()
      const place = () => ({ id: `g${newId()}`, instance, rental })
      const replaced = known().facts.account.instances[replaces ?? '']
      const chosen = replaced
        ? limits
            .all()
            .filter(limit => limit.instance === replaces && !limit.ended)
            .map(limit => takenOver(limit, place(), spentBy(replaced, at), at))
        : agreed.map(limit => limitOfRental(limit, place(), Math.min(since, at)))
      if (chosen.length === 0) return
      await limits.put(...chosen)
      for (const limit of chosen) say('Set a limit', limit, 'berth')
      changed(instance)
    },
    /**
     * An instance that its user starts gets the limit again that has stopped it, unless another is set on it. One that its run
     * has left is theirs: no limit of the move counts any more.
     */
    async startAgain(instance: number): Promise<void> {
      const all = limits.all().filter(limit => limit.instance === instance)
      const own = all.filter(({ leaving }) => !leaving)
      for (const limit of all.filter(({ leaving }) => leaving)) {
        await endings.takeBackOf(limit.id)
        await limits.remove(limit.id)
        settle(limit)
        if (!limit.ended) say('Removed a limit', limit, 'berth')
      }
      if (own.some(({ ended }) => !ended)) return
      const view = known().facts.account.instances[instance]
      for (const kind of ['duration', 'cost']) {
        const last = own.findLast(limit => limit.when.kind === kind && isSetAgain(limit, endOf(limit)))
        if (!last || !view) continue
        const at = now()
        const again = setAgain(last, `g${newId()}`, spentBy(view, at), at)
        await limits.add(again, last.id)
        settle(again)
        say('Set a limit again', again, 'berth')
      }
    },
    /** Its user agrees to another price: what was shown with its rental no longer ends it. */
    async agreeAnew(instance: number): Promise<void> {
      const held = limits.all().filter(limit => limit.instance === instance && !limit.ended && limit.most)
      const text = 'Its price was changed: the cost shown at its rental no longer counts'
      await limits.put(...held.map(({ most, ...limit }) => withEvent(limit, now(), text)))
      if (held.length > 0) changed(instance)
      show()
    },
    async remove(id: string): Promise<void> {
      const limit = limits.get(id)
      await endings.takeBackOf(id)
      await limits.remove(id)
      settle(limit)
      limitAlerts.withdraw(id)
      if (limit.ended) show()
      else say('Removed a limit', limit)
    },
    /**
     * Lets a watchdog on its instance do the same while this computer sleeps, or not. Throws `invalid_argument` where it
     * cannot, and the errors of `Watchdogs.apply`; the limit then stays unchanged.
     */
    async watch(id: string, asleep: boolean): Promise<void> {
      const before = limits.get(id)
      const limit = { ...before, asleep }
      if (!canBeAsleep(limit.when)) throw refused(ofOneInstance, 'asleep')
      needOneAction(limit, limits.all(), id)
      await limits.put(limit)
      if (asleep) await ask(limit, () => limits.put(before))
      else settle(limit)
      say(asleep ? 'Added a watchdog to a limit' : 'Removed the watchdog from a limit', limit)
    },
    /**
     * Sets limits for the conditions of a watchdog that was found on an instance. Resolves with a function that undoes
     * it.
     */
    async adopt(instance: number, { action, ...request }: WatchdogRequest): Promise<() => Promise<void>> {
      const found = conditionsOf({ action, ...request })
        .filter(when => when.kind !== 'time' || when.at > now())
        .map(when => (when.kind === 'idle' ? { ...when, seconds: Math.max(60, when.seconds) } : when))
        .map(when => limitOfRental({ when, action, asleep: true }, { id: `g${newId()}`, instance }, now()))
      await limits.put(...found)
      for (const limit of found) say('Found a watchdog with a limit', limit, 'berth')
      return async () => {
        for (const { id } of found) await limits.remove(id)
        show()
      }
    },
    /** Postpones its moment by minutes; null ends the snooze. Throws `limit_off` or `limit_ended`. */
    async snooze(id: string, minutes: SnoozeMinutes | null): Promise<void> {
      const limit = limits.get(id)
      const { facts } = known()
      const next = snoozed(limit, minutes, dueOf(limit, facts), now(), facts.account.instances)
      if (minutes !== null) await endings.takeBackOf(id)
      await limits.put(next)
      settle(limit)
      limitAlerts.withdraw(id)
      say(`${next.history.at(-1)?.text}: a limit`, limit)
    },
  }
}

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

const ofOneInstance = 'A watchdog only knows its own instance.'

/** Throws `invalid_argument` where the watchdog already does something else. `instead`: the limit that it replaces. */
function needOneAction(limit: StoredLimit, all: readonly StoredLimit[], instead: string | undefined): void {
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

function refused(message: string, field: string): BerthError {
  return new BerthError({ code: 'invalid_argument', message, field })
}
