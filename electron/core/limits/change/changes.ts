import { isSetAgain, type LimitPreview, type SnoozeMinutes } from '#contract/automation/limit.ts'
import type { RentalStop } from '#contract/automation/limit-kinds.ts'
import { spentBy } from '#contract/reading.ts'
import type { AccountContext } from '#core/account-context.ts'
import type { LimitAlerts } from '../alerts/limit-alerts.ts'
import { blindness } from '../alerts/view.ts'
import { limitSentence } from '../alerts/words.ts'
import { targetsOf } from '../decide/choose-targets.ts'
import { withIdle } from '../decide/idle.ts'
import { dueOf } from '../decide/moment.ts'
import type { Known } from '../facts/facts.ts'
import type { Limit } from '../model.ts'
import type { StoredLimits } from '../stored-limits.ts'
import {
  changedLimit,
  type LimitSettings,
  limitOfRental,
  newLimit,
  setAgain,
  snoozed,
  switched,
  takenOver,
} from './limit-request.ts'

/** The user's changes to an account's limits, and the limits of rentals. */
export interface LimitChanges {
  /** Resolves with the limit's id once it is on disk. Throws `invalid_argument` or `not_written`. */
  set(settings: LimitSettings & Pick<Limit, 'warning' | 'missed'>, instead?: string): Promise<string>
  preview(settings: LimitSettings): Promise<LimitPreview>
  /** A limit that is off does nothing. Throws `limit_ended`, or `invalid_argument` for a time that has passed. */
  switch(id: string, on: boolean): Promise<void>
  /**
   * Sets a rental's limits on its instance, once: its stops, or in the place of `replaces` what is left of the limits
   * there. A failed write does not reject.
   */
  limitRental(
    rental: string,
    instance: number,
    stops: readonly RentalStop[],
    replaces?: number,
  ): Promise<void>
  /** An instance that its user starts gets the limit again that has stopped it, unless another is set on it. */
  startAgain(instance: number): Promise<void>
  remove(id: string): Promise<void>
  /** Postpones its moment by minutes; null ends the snooze. Throws `limit_off` or `limit_ended`. */
  snooze(id: string, minutes: SnoozeMinutes | null): Promise<void>
}

export function createLimitChanges(
  { newId, now, poll }: Pick<AccountContext, 'newId' | 'now' | 'poll'>,
  {
    limits,
    limitAlerts,
    changed,
    known,
    look,
    show,
  }: {
    limits: StoredLimits
    limitAlerts: LimitAlerts
    /** Called with each changed limit, before and after; `after` is undefined once it does nothing. */
    changed: (before: Limit, after?: Limit) => void
    known: () => Known
    /** Reads an instance's GPU load, where nothing is known of it. */
    look: (instance: number | undefined) => Promise<void>
    show: () => void
  },
): LimitChanges {
  const sentenceOf = (limit: Limit) => limitSentence(limit, limitAlerts.scene(now()).instances, now())

  function say(text: string, limit: Limit, by: 'user' | 'berth' = 'user'): void {
    limitAlerts.note(by, text, sentenceOf(limit), limit.instance)
    show()
  }

  return {
    async set({ warning, missed, ...settings }, instead) {
      const before = instead === undefined ? undefined : limits.get(instead)
      const at = now()
      const fresh = newLimit(settings, { id: `g${newId()}`, warning, missed }, at)
      const limit = before ? changedLimit(fresh, before, sentenceOf(before), at) : fresh
      await limits.add(limit, instead)
      if (instead !== undefined) limitAlerts.withdraw(instead)
      if (before) changed(before, limit)
      say(before ? 'Changed a limit' : 'Set a limit', limit)
      void poll()
      return limit.id
    },
    async preview(settings) {
      if (settings.when.kind === 'idle') await look(settings.instance)
      const at = now()
      const limit = newLimit(settings, { id: 'g0000000000000000', warning: 0, missed: 'act' }, at)
      return previewOf(limit, known(), at)
    },
    async switch(id, on) {
      const limit = limits.get(id)
      const next = switched(limit, on, now())
      if (next === limit) return
      await limits.put(next)
      if (!on) limitAlerts.withdraw(id)
      changed(limit, on ? next : undefined)
      say(`Switched a limit ${on ? 'on' : 'off'}`, next)
      void poll()
    },
    async limitRental(rental, instance, stops, replaces) {
      // After a kill the limits may exist already.
      if (limits.all().some(limit => limit.rental === rental && !limit.ended)) return
      const at = now()
      const place = () => ({ id: `g${newId()}`, instance, rental })
      const replaced = known().facts.account.instances[replaces ?? '']
      const chosen = replaced
        ? limits
            .all()
            .filter(limit => limit.instance === replaces && !limit.ended)
            .map(limit => takenOver(limit, place(), spentBy(replaced, at), at))
        : stops.map(stop => limitOfRental(stop, place(), at))
      if (chosen.length === 0) return
      await limits.put(...chosen)
      for (const limit of chosen) say('Set a limit', limit, 'berth')
    },
    async startAgain(instance) {
      const own = limits.all().filter(limit => limit.instance === instance)
      if (own.some(({ ended }) => !ended)) return
      const view = known().facts.account.instances[instance]
      for (const kind of ['duration', 'cost']) {
        const last = own.findLast(limit => limit.condition.kind === kind && isSetAgain(limit, limit.ended))
        if (!last || !view) continue
        const at = now()
        const again = setAgain(last, `g${newId()}`, spentBy(view, at), at)
        await limits.add(again, last.id)
        say('Set a limit again', again, 'berth')
      }
    },
    async remove(id) {
      const limit = limits.get(id)
      await limits.remove(id)
      changed(limit)
      limitAlerts.withdraw(id)
      if (limit.ended) show()
      else say('Removed a limit', limit)
    },
    async snooze(id, minutes) {
      const limit = limits.get(id)
      const next = snoozed(limit, minutes, dueOf(limit, known().facts), now())
      await limits.put(next)
      changed(limit, next)
      limitAlerts.withdraw(id)
      say(`${next.history.at(-1)?.text}: a limit`, limit)
    },
  }
}

/** What a limit would do, and when, if it were set now. */
function previewOf(limit: Limit, known: Known, now: number): LimitPreview {
  const { facts } = known
  const { account, loads } = facts
  const instance = limit.instance === undefined ? undefined : account.instances[limit.instance]
  const load = instance && (instance.gpuLoad ?? loads.get(instance.id)?.load)
  const idle = withIdle(limit, instance, load, { now, unseen: false })
  const dueAt = dueOf(idle, facts)
  const blind = blindness(limit, facts, now)
  return {
    sentence: limitSentence(limit, account.instances, now),
    dueAt: dueAt && Math.round(dueAt),
    targets: targetsOf(limit, known, now),
    doubt:
      blind?.code === 'no_gpu_load'
        ? 'The service doesn’t report its GPU load: Berth reads it over SSH each minute, so SSH must work.'
        : blind?.message,
  }
}
