import * as v from 'valibot'
import {
  canBeAsleep,
  isSetAgain,
  type Limit,
  type LimitPreview,
  type SnoozeMinutes,
} from '#shared/automation/limit.ts'
import { limitSentence } from '#shared/automation/limit-words.ts'
import { conditionsOf, type WatchdogRequest } from '#shared/automation/watchdog.ts'
import { spentBy } from '#shared/derived.ts'
import type { AccountContext, AccountPoll } from '../account-context.ts'
import { openDocument } from '../storage/json-file.ts'
import { limitAlertsOf } from './alerts.ts'
import {
  changedLimit,
  type LimitSettings,
  limitOfRental,
  needOneAction,
  newLimit,
  ofOneInstance,
  refused,
  setAgain,
  snoozed,
  switched,
  takenOver,
} from './changes.ts'
import { dueOf } from './decide.ts'
import { type EngineParts, LimitEngine } from './engine.ts'
import { previewOf } from './limit-view.ts'
import { endOf, type StoredLimit, withEvent, withoutWarning } from './model.ts'

/** The limits of one account, which stop or destroy for the user: changed here, and acted on by the engine. */
export type Limits = Awaited<ReturnType<typeof openLimits>>

/** Dependencies of an account's limits, besides the account. */
interface LimitParts extends Omit<EngineParts, 'limitAlerts' | 'seenAt'> {
  /** The watchdogs on the account's instances, which follow the limits. */
  watchdogs: {
    /** Follows the limits of an instance. */
    settle(instance: number): Promise<void>
    /** The same at once, where a limit is to count while this computer sleeps: throws where no retry would help. */
    apply(instance: number): Promise<void>
    /** A new instance has a watchdog from its start script, which goes by that request. */
    brought(instance: number, request: WatchdogRequest): Promise<void>
  }
}

export async function openLimits(context: AccountContext, parts: LimitParts) {
  const { newId, now, poll, endings } = context
  const { limits, watchdogs } = parts
  const seenAt = await openDocument(context, 'limits-seen', v.nullable(v.number()), null)
  const limitAlerts = limitAlertsOf(context)
  const engine = new LimitEngine(context, { ...parts, limitAlerts, seenAt })
  const sentenceOf = (limit: StoredLimit) => limitSentence(limit, limitAlerts.scene(now()).instances, now())

  function say(text: string, limit: StoredLimit, by: 'user' | 'berth' = 'user'): void {
    limitAlerts.note(by, text, sentenceOf(limit), limit.instance)
    engine.show()
  }

  function settle({ instance }: StoredLimit): void {
    if (instance !== undefined) void watchdogs.settle(instance)
  }

  /** Asks for the watchdog of a limit; `undo` where no retry would help. */
  async function ask({ instance = 0 }: StoredLimit, undo: () => Promise<unknown>): Promise<void> {
    try {
      await watchdogs.apply(instance)
    } catch (error) {
      await undo()
      void watchdogs.settle(instance)
      engine.show()
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
    onPoll: (polled: AccountPoll) => engine.onPoll(polled),
    show: () => engine.show(),
    resume: () => engine.resume(),
    dueAt: () => engine.dueAt(),
    async flush(): Promise<void> {
      await Promise.all([limits.flush(), seenAt.flush()])
    },
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
      if (settings.when.kind === 'idle') await engine.look(settings.instance)
      const before = instead === undefined ? undefined : limits.get(instead)
      const at = now()
      const rest = { id: 'g0000000000000000', warning: 0, missed: 'act' } as const
      return previewOf(limitAfter(settings, rest, before, at), engine.known(), at)
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
      if (brought) await watchdogs.brought(instance, brought)
      const own = limits
        .all()
        .filter(limit => limit.rental === rental && (!limit.ended || limit.ended === 'gone'))
      // After a kill the limits may exist already.
      if (own.some(limit => limit.instance === instance && !limit.ended)) return
      // Those of an instance that turned out to be none, or another's.
      if (own.some(limit => limit.instance !== instance)) {
        await limits.put(...own.map(limit => ({ ...withoutWarning(limit), instance, ended: undefined })))
        for (const one of [...own.map(limit => limit.instance ?? instance), instance])
          void watchdogs.settle(one)
        return
      }
      const at = now()
      const place = () => ({ id: `g${newId()}`, instance, rental })
      const replaced = engine.known().facts.account.instances[replaces ?? '']
      const chosen = replaced
        ? limits
            .all()
            .filter(limit => limit.instance === replaces && !limit.ended)
            .map(limit => takenOver(limit, place(), spentBy(replaced, at), at))
        : agreed.map(limit => limitOfRental(limit, place(), Math.min(since, at)))
      if (chosen.length === 0) return
      await limits.put(...chosen)
      for (const limit of chosen) say('Set a limit', limit, 'berth')
      void watchdogs.settle(instance)
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
      const view = engine.known().facts.account.instances[instance]
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
      if (held.length > 0) void watchdogs.settle(instance)
      engine.show()
    },
    async remove(id: string): Promise<void> {
      const limit = limits.get(id)
      await endings.takeBackOf(id)
      await limits.remove(id)
      settle(limit)
      limitAlerts.withdraw(id)
      if (limit.ended) engine.show()
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
        engine.show()
      }
    },
    /** Postpones its moment by minutes; null ends the snooze. Throws `limit_off` or `limit_ended`. */
    async snooze(id: string, minutes: SnoozeMinutes | null): Promise<void> {
      const limit = limits.get(id)
      const { facts } = engine.known()
      const next = snoozed(limit, minutes, dueOf(limit, facts), now(), facts.account.instances)
      if (minutes !== null) await endings.takeBackOf(id)
      await limits.put(next)
      settle(limit)
      limitAlerts.withdraw(id)
      say(`${next.history.at(-1)?.text}: a limit`, limit)
    },
  }
}
