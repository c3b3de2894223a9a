import { type GuardPreview, isSetAgain, type SnoozeMinutes } from '#contract/automation/guard.ts'
import type { RentalStop } from '#contract/automation/guard-kinds.ts'
import { spentBy } from '#contract/reading.ts'
import type { AccountContext } from '#core/account-context.ts'
import type { GuardAlerts } from '../alerts/guard-alerts.ts'
import { blindness } from '../alerts/view.ts'
import { guardSentence } from '../alerts/words.ts'
import { targetsOf } from '../decide/choose-targets.ts'
import { withIdle } from '../decide/idle.ts'
import { dueOf } from '../decide/moment.ts'
import type { Known } from '../facts/facts.ts'
import type { Guard } from '../model.ts'
import type { StoredGuards } from '../stored-guards.ts'
import {
  changedGuard,
  type GuardSettings,
  guardOfRental,
  newGuard,
  setAgain,
  snoozed,
  switched,
  takenOver,
} from './guard-request.ts'

/** The user's changes to an account's guards, and the guards of rentals. */
export interface GuardChanges {
  /** Resolves with the guard's id once it is on disk. Throws `invalid_argument` or `not_written`. */
  set(settings: GuardSettings & Pick<Guard, 'warning' | 'missed'>, instead?: string): Promise<string>
  preview(settings: GuardSettings): Promise<GuardPreview>
  /** A guard that is off does nothing. Throws `guard_ended`, or `invalid_argument` for a time that has passed. */
  switch(id: string, on: boolean): Promise<void>
  /**
   * Sets a rental's guards on its instance, once: its stops, or in the place of `replaces` what is left of the guards
   * there. A failed write does not reject.
   */
  guardRental(
    rental: string,
    instance: number,
    stops: readonly RentalStop[],
    replaces?: number,
  ): Promise<void>
  /** An instance that its user starts gets the limit again that has stopped it, unless another is set on it. */
  startAgain(instance: number): Promise<void>
  remove(id: string): Promise<void>
  /** Postpones its moment by minutes; null ends the snooze. Throws `guard_off` or `guard_ended`. */
  snooze(id: string, minutes: SnoozeMinutes | null): Promise<void>
}

export function createGuardChanges(
  { newId, now, poll }: Pick<AccountContext, 'newId' | 'now' | 'poll'>,
  {
    guards,
    guardAlerts,
    changed,
    known,
    look,
    show,
  }: {
    guards: StoredGuards
    guardAlerts: GuardAlerts
    /** Called with each changed guard, before and after; `after` is undefined once it does nothing. */
    changed: (before: Guard, after?: Guard) => void
    known: () => Known
    /** Reads an instance's GPU load, where nothing is known of it. */
    look: (instance: number | undefined) => Promise<void>
    show: () => void
  },
): GuardChanges {
  const sentenceOf = (guard: Guard) => guardSentence(guard, guardAlerts.scene(now()).instances, now())

  function say(text: string, guard: Guard, by: 'user' | 'berth' = 'user'): void {
    guardAlerts.note(by, text, sentenceOf(guard), guard.instance)
    show()
  }

  return {
    async set({ warning, missed, ...settings }, instead) {
      const before = instead === undefined ? undefined : guards.get(instead)
      const at = now()
      const fresh = newGuard(settings, { id: `g${newId()}`, warning, missed }, at)
      const guard = before ? changedGuard(fresh, before, sentenceOf(before), at) : fresh
      await guards.add(guard, instead)
      if (instead !== undefined) guardAlerts.withdraw(instead)
      if (before) changed(before, guard)
      say(before ? 'Changed a limit' : 'Set a limit', guard)
      void poll()
      return guard.id
    },
    async preview(settings) {
      if (settings.when.kind === 'idle') await look(settings.instance)
      const at = now()
      const guard = newGuard(settings, { id: 'g0000000000000000', warning: 0, missed: 'act' }, at)
      return previewOf(guard, known(), at)
    },
    async switch(id, on) {
      const guard = guards.get(id)
      const next = switched(guard, on, now())
      if (next === guard) return
      await guards.put(next)
      if (!on) guardAlerts.withdraw(id)
      changed(guard, on ? next : undefined)
      say(`Switched a limit ${on ? 'on' : 'off'}`, next)
      void poll()
    },
    async guardRental(rental, instance, stops, replaces) {
      // After a kill the guards may exist already.
      if (guards.all().some(guard => guard.rental === rental && !guard.ended)) return
      const at = now()
      const place = () => ({ id: `g${newId()}`, instance, rental })
      const replaced = known().facts.account.instances[replaces ?? '']
      const chosen = replaced
        ? guards
            .all()
            .filter(guard => guard.instance === replaces && !guard.ended)
            .map(guard => takenOver(guard, place(), spentBy(replaced, at), at))
        : stops.map(stop => guardOfRental(stop, place(), at))
      if (chosen.length === 0) return
      await guards.put(...chosen)
      for (const guard of chosen) say('Set a limit', guard, 'berth')
    },
    async startAgain(instance) {
      const own = guards.all().filter(guard => guard.instance === instance)
      if (own.some(({ ended }) => !ended)) return
      const view = known().facts.account.instances[instance]
      for (const kind of ['duration', 'cost']) {
        const last = own.findLast(guard => guard.condition.kind === kind && isSetAgain(guard, guard.ended))
        if (!last || !view) continue
        const at = now()
        const again = setAgain(last, `g${newId()}`, spentBy(view, at), at)
        await guards.add(again, last.id)
        say('Set a limit again', again, 'berth')
      }
    },
    async remove(id) {
      const guard = guards.get(id)
      await guards.remove(id)
      changed(guard)
      guardAlerts.withdraw(id)
      if (guard.ended) show()
      else say('Removed a limit', guard)
    },
    async snooze(id, minutes) {
      const guard = guards.get(id)
      const next = snoozed(guard, minutes, dueOf(guard, known().facts), now())
      await guards.put(next)
      changed(guard, next)
      guardAlerts.withdraw(id)
      say(`${next.history.at(-1)?.text}: a limit`, guard)
    },
  }
}

/** What a guard would do, and when, if it were set now. */
function previewOf(guard: Guard, known: Known, now: number): GuardPreview {
  const { facts } = known
  const { account, loads } = facts
  const instance = guard.instance === undefined ? undefined : account.instances[guard.instance]
  const load = instance && (instance.gpuLoad ?? loads.get(instance.id)?.load)
  const idle = withIdle(guard, instance, load, { now, unseen: false })
  const dueAt = dueOf(idle, facts)
  const blind = blindness(guard, facts, now)
  return {
    sentence: guardSentence(guard, account.instances, now),
    dueAt: dueAt && Math.round(dueAt),
    targets: targetsOf(guard, known, now),
    doubt:
      blind?.code === 'no_gpu_load'
        ? 'The service doesn’t report its GPU load: Berth reads it over SSH each minute, so SSH must work.'
        : blind?.message,
  }
}
