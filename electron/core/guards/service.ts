import * as v from 'valibot'
import { isFailingOver } from '../../contract/automation/failover.ts'
import type { GuardPreview, SnoozeMinutes } from '../../contract/automation/guard.ts'
import type { RentalStop } from '../../contract/automation/guard-kinds.ts'
import { moment } from '../../contract/format/time.ts'
import { BerthError } from '../../contract/problem.ts'
import type { AccountContext, AccountPoll, Automation } from '../account-context.ts'
import type { Alert } from '../notifications/alert.ts'
import { openDocument } from '../storage/json-file.ts'
import { type BeforeGuard, carryOut } from './carry-out.ts'
import type { Target } from './decide/choose-targets.ts'
import { type GuardDecision, guardActions, type Snapshot } from './decide/guard-actions.ts'
import { dueOf } from './decide/moment.ts'
import { previewOf } from './decide/preview.ts'
import { createGpuLoads, questionInside } from './gpu-loads.ts'
import { changedGuard, guardOfRental, newGuard, switchedOn, type WishedGuard } from './guard-request.ts'
import { calmed, type Guard, withEvent, withTargets } from './model.ts'
import { guardAfterActing } from './outcomes.ts'
import { createSnapshots, type Spending } from './snapshots.ts'
import type { StoredGuards } from './stored-guards.ts'
import { doneAlert, failedAlert, guardAlertId } from './tell/alerts.ts'
import { createShownGuards } from './tell/shown-guards.ts'
import { guardSentence, whatHappened } from './tell/words.ts'
import { type Transition, transitionOf } from './transition.ts'

/** The guards of one account: what the user has told Berth to stop or destroy by itself. */
export interface Guards extends Required<Omit<Automation, 'secretOwners'>> {
  /** Resolves with its id once it is on disk. Throws `invalid_argument` or `not_written`. */
  set(wish: WishedGuard & Pick<Guard, 'warning' | 'missed'>, instead?: string): Promise<string>
  preview(wish: WishedGuard): GuardPreview
  /** Off, it does nothing until it is on again. Throws `guard_ended`, or `invalid_argument` for a time that has passed. */
  switch(id: string, on: boolean): Promise<void>
  /** Sets what was chosen with a rental on the instance that came of it, once. Never rejects because of the disk. */
  guardRental(rental: string, instance: number, stops: readonly RentalStop[]): Promise<void>
  remove(id: string): Promise<void>
  /** Moves its moment by so many minutes; null takes all of that back. Throws `guard_ended`. */
  snooze(id: string, minutes: SnoozeMinutes | null): Promise<void>
}

/** What the guards of an account go by, besides the account. */
interface GuardParts {
  guards: StoredGuards
  spending: Spending
  /** The failover that an instance was rented for. */
  ownerOf: (instance: number) => string | undefined
  /** Awaited before anything is stopped or destroyed. */
  before: BeforeGuard
  /** Called with each guard that the user has changed, as it was and as it is; without `after` it does nothing any more. */
  changed: (before: Guard, after?: Guard) => void
}

export async function openGuards(
  context: AccountContext,
  { guards: stored, spending, ownerOf, before, changed }: GuardParts,
): Promise<Guards> {
  const { account: accountId, store, machine, activity, notifications, ending, now } = context
  const { clock } = machine
  const { all, find, get } = stored
  /** When Berth last saw the account, epoch seconds of its time. */
  const seenAt = await openDocument({
    files: context.files,
    clock,
    name: `${context.folder}/guards-seen.json`,
    schema: v.nullable(v.number()),
    empty: null,
    onBroken: context.onBroken,
  })
  const gpus = createGpuLoads({ clock, question: questionInside(context), now, ending })
  const snapshots = createSnapshots({
    clock,
    spending,
    loads: gpus.heard,
    interval: () => store.get().settings.pollInterval,
    seenAt: seenAt.get() ?? undefined,
    now,
  })
  /** Guards whose requests are under way. */
  const busy = new Set<string>()
  const shown = createShownGuards({ store, account: accountId, guards: stored, busy })
  /** What was acted on lately, and when: the service may still show it as it was. */
  const acted = new Map<number, number>()
  /** Guards whose instance the last look did not have. */
  const absent = new Set<string>()
  let askedAgain = false
  /** Up to which moment a timer of its own has checked, besides the polls. */
  let checkedUpTo = Number.NEGATIVE_INFINITY
  let cancelTimer: (() => void) | undefined
  ending.addEventListener('abort', () => cancelTimer?.(), { once: true })

  const account = () => store.get().accounts[accountId]
  const scene = (at: number) => ({ account: accountId, instances: account()?.instances ?? {}, now: at })

  function tell(alert: Alert): void {
    if (store.get().settings.alerts.guard) notifications.tell(accountId, [alert])
    else note('alert', alert.title, alert.body, alert.instance)
  }

  function note(kind: 'user' | 'alert' | 'berth', text: string, detail?: string, instance?: number): void {
    activity.add({ account: accountId, kind, text, detail: detail || undefined, instance })
  }

  const isThere = ({ id }: Guard) => find(id) !== undefined

  /** What has become of some; one that was taken off meanwhile stays off. */
  function record(guards: readonly Guard[]): Promise<void> {
    return stored.put(...guards.filter(isThere))
  }

  /** On disk first, then said: after a kill it is rather not said than said twice. */
  async function apply(transitions: readonly Transition[]): Promise<void> {
    for (const { guard, alert } of transitions)
      if (!alert) notifications.withdraw(guardAlertId(accountId, guard.id))
    await record(transitions.map(({ guard }) => guard))
    show()
    for (const { alert } of transitions) if (alert && !ending.aborted) tell(alert)
  }

  /** A failover under way drops its own instance, as soon as a guard has recorded that it acts on that. */
  function mayActOn({ instance }: Target): boolean {
    const failover = account()?.failovers[ownerOf(instance) ?? '']
    return !failover || !isFailingOver(failover)
  }

  /** Decides and acts; gives whether something waits for a second look to agree about the time. */
  function decide(seen: Omit<Snapshot, 'acted'>, at: number): boolean {
    const snapshot = { ...seen, acted: new Set(acted.keys()) }
    const decisions = guardActions(
      snapshot,
      all().filter(({ id }) => !busy.has(id)),
      at,
    )
    const noted = decisions.flatMap(({ kind, guard }) => (kind === 'note' ? [guard] : []))
    if (noted.length > 0) stored.putSoon(...noted.filter(isThere))
    const transitions = decisions.flatMap(decision => follow(decision, snapshot, at) ?? [])
    if (transitions.length > 0) void apply(transitions)
    return decisions.some(({ kind }) => kind === 'unsure')
  }

  function follow(decision: GuardDecision, snapshot: Snapshot, at: number): Transition | undefined {
    const { guard, kind } = decision
    if (kind === 'act') void act(decision, snapshot, at)
    // One look without its instance may be the service's mistake.
    if (kind === 'gone' && !absent.delete(guard.id) && guard.begunAt === undefined) {
      absent.add(guard.id)
      return undefined
    }
    return transitionOf(decision, snapshot, scene(at))
  }

  async function act(
    { guard: due, dueAt, late, targets }: Extract<GuardDecision, { kind: 'act' }>,
    { facts }: Snapshot,
    at: number,
  ): Promise<void> {
    const { id } = due
    const isWanted = () => find(id)?.begunAt !== undefined
    busy.add(id)
    try {
      await record([withTargets({ ...due, begunAt: at }, targets)])
      show()
      const out = await carryOut(targets.filter(mayActOn), {
        client: context.client,
        before,
        ending,
        wanted: isWanted,
      })
      const end = now()
      if (ending.aborted || (out.done.length === 0 && !out.problem)) return
      for (const { instance } of out.done) acted.set(instance, end)
      const guard = find(id)
      if (guard) await record([guardAfterActing(guard, out, facts, end)])
      if (out.problem && !guard?.failures) tell(failedAlert(scene(end), due, out.problem))
      else if (!out.problem) tell(doneAlert(scene(end), due, out.done, late ? { dueAt } : undefined))
      else if (out.done.length > 0) note('berth', whatHappened(out.done, facts.account.instances))
    } finally {
      busy.delete(id)
      show()
    }
    void context.poll()
  }

  /** Writes what has changed into State, and waits for what comes next. */
  function show(): void {
    const view = account()
    if (!view || ending.aborted) return
    const at = now()
    shown.show(snapshots.known(view), at, Math.min(at, Math.max(snapshots.lastAt() ?? at, checkedUpTo)))
    wait(shown.next(), view.clock.rate)
  }

  /** The moments that matter are not left to polling, which may be paused, or pause after failures. */
  function wait(moment: number | undefined, rate: number): void {
    cancelTimer?.()
    cancelTimer = undefined
    if (moment === undefined) return
    const until = ((moment - now()) * 1000) / rate + afterMoment
    cancelTimer = clock.after(Math.min(Math.max(until, 0), longestWait), () => void checkAt(moment))
  }

  async function checkAt(moment: number): Promise<void> {
    const unseen = () => (snapshots.lastAt() ?? Number.NEGATIVE_INFINITY) < moment
    if (now() >= moment && unseen()) await context.poll()
    const view = account()
    if (!view || ending.aborted) return
    // The same moment is not checked twice.
    checkedUpTo = Math.max(checkedUpTo, Math.min(moment, now()))
    const stale = snapshots.stale(view)
    // Where it is much later, this computer slept: the first poll then finds what was missed.
    if (now() >= moment && unseen() && now() - moment <= stale.gap) decide(stale, now())
    show()
  }

  function onPoll({ account: view, unconfirmed, at }: AccountPoll): void {
    for (const id of absent) if (view.instances[find(id)?.instance ?? '']) absent.delete(id)
    gpus.told(view.instances, at)
    const snapshot = { ...snapshots.fresh(view, at), unconfirmed }
    for (const [instance, when] of acted)
      if (view.instances[instance]?.state !== 'running' || Math.abs(at - when) > snapshot.gap)
        acted.delete(instance)
    const unsure = decide(snapshot, at)
    if (!unsure) {
      snapshots.decided(at)
      askedAgain = false
      if (all().length > 0 && Math.abs(at - (seenAt.get() ?? 0)) > snapshot.gap / 4)
        seenAt.writeSoon(() => at)
    } else if (!askedAgain) {
      askedAgain = true
      void context.poll()
    }
    gpus.ask(shown.unknownLoads(view), view.clock.rate)
    show()
  }

  return {
    onPoll,
    resume: show,
    dueAt: () => shown.next() ?? Number.POSITIVE_INFINITY,
    async flush() {
      await Promise.all([stored.flush(), seenAt.flush()])
    },
    async set({ warning, missed: whenMissed, ...wish }, instead) {
      const before = instead === undefined ? undefined : get(instead)
      const at = now()
      const fresh = newGuard(wish, { id: `g${context.newId()}`, warning, missed: whenMissed }, at)
      const sentenceOf = (one: Guard) => guardSentence(one, scene(at).instances, at)
      const guard = before ? changedGuard(fresh, before, sentenceOf(before), at) : fresh
      await stored.add(guard, instead)
      if (instead !== undefined) notifications.withdraw(guardAlertId(accountId, instead))
      if (before) changed(before, guard)
      note('user', before ? 'Changed a guard' : 'Set a guard', sentenceOf(guard), guard.instance)
      show()
      void context.poll()
      return guard.id
    },
    preview(wish) {
      const at = now()
      const guard = newGuard(wish, { id: 'g0000000000000000', warning: 0, missed: 'act' }, at)
      return previewOf(guard, snapshots.known(account() ?? nothing), at)
    },
    async switch(id, on) {
      const guard = get(id)
      const at = now()
      if (guard.ended && guard.ended !== 'off') throw endedAlready()
      if (on === (guard.ended === undefined)) return
      const next = on ? switchedOn(guard, at) : { ...calmed(guard), ended: 'off' as const }
      await record([withEvent(next, at, on ? 'Switched on' : 'Switched off')])
      if (!on) notifications.withdraw(guardAlertId(accountId, id))
      changed(guard, on ? next : undefined)
      const sentence = guardSentence(next, scene(at).instances, at)
      note('user', `Switched a guard ${on ? 'on' : 'off'}`, sentence, guard.instance)
      show()
      void context.poll()
    },
    async guardRental(rental, instance, stops) {
      // A kill may have come between these and what the rental knows of its instance.
      if (all().some(guard => guard.rental === rental && !guard.ended)) return
      const at = now()
      const guards = stops.map(stop =>
        guardOfRental(stop, { id: `g${context.newId()}`, instance, rental }, at),
      )
      if (guards.length === 0) return
      await stored.put(...guards)
      for (const guard of guards)
        note('berth', 'Set a guard', guardSentence(guard, scene(at).instances, at), instance)
      show()
    },
    async remove(id) {
      const guard = get(id)
      await stored.remove(id)
      changed(guard)
      notifications.withdraw(guardAlertId(accountId, id))
      const at = now()
      if (!guard.ended)
        note('user', 'Took a guard off', guardSentence(guard, scene(at).instances, at), guard.instance)
      show()
    },
    async snooze(id, minutes) {
      const guard = get(id)
      const view = account()
      const at = now()
      if (guard.ended || !view) throw endedAlready()
      const { snoozedUntil: _, ...awake } = calmed(guard)
      const dueAt = dueOf(guard, snapshots.known(view))
      const until = minutes === null ? undefined : Math.max(at, dueAt ?? at) + minutes * 60
      const text = until === undefined ? 'Snooze ended' : `Snoozed until ${moment(until, at)}`
      const next = until === undefined ? awake : { ...awake, snoozedUntil: until }
      await record([withEvent(next, at, text)])
      changed(guard, next)
      notifications.withdraw(guardAlertId(accountId, id))
      note('user', `${text}: a guard`, guardSentence(guard, view.instances, at), guard.instance)
      show()
    },
  }
}

function endedAlready(): BerthError {
  return new BerthError({
    code: 'guard_ended',
    message: 'That guard has done its work already.',
    advice: 'Set another one.',
  })
}

/** An account that is being removed. */
const nothing = { instances: {}, spendPerHour: 0, clock: { serverAt: 0, localAt: 0, rate: 1 } }

/** Milliseconds after a moment until Berth wonders whether it was seen, and at most until it looks at its clock again. */
const afterMoment = 1500
const longestWait = 600_000
