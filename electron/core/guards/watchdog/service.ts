import { includesPart, watchdogPart, withoutPart, withPart } from '../../../contract/automation/asleep.ts'
import { isGoing } from '../../../contract/automation/run.ts'
import type { WatchdogRequest } from '../../../contract/automation/watchdog.ts'
import type { InstanceView } from '../../../contract/instance/instance.ts'
import { BerthError } from '../../../contract/problem.ts'
import { canGetIn } from '../../../contract/reading.ts'
import type { Connection } from '../../../ssh/connection/connection.ts'
import {
  lookAtWatchdog,
  putWatchdog,
  removeWatchdog,
  type WatchdogLook,
  watchdogLog,
} from '../../../ssh/watchdog/watchdog.ts'
import type { AccountContext, AccountPoll, Automation } from '../../account-context.ts'
import { problemOf } from '../../app/problems.ts'
import { instanceKeyEntry } from '../../instances/instance-key.ts'
import { pollsUntilGone } from '../../instances/missing-instances.ts'
import { same } from '../../state/same.ts'
import type { Guard } from '../model.ts'
import { mustBeAhead } from './ahead.ts'
import { createWatchdogAlerts, requestSentence } from './alerts.ts'
import { afterPoll, isNews } from './decide.ts'
import { type StoredWatchdog, startsWatchdog, tickOf, visitEvery } from './model.ts'
import type { StoredWatchdogs } from './stored-watchdogs.ts'

/** The watchdogs inside one account's instances: put there, visited so that their leases go on, and taken away. */
export interface Watchdogs extends Required<Pick<Automation, 'onPoll' | 'resume' | 'flush'>> {
  put(instance: number, wish: WatchdogRequest): Promise<void>
  remove(instance: number): Promise<void>
  /** A guard has changed: the watchdog that does the same goes with it, as soon as it can be told. */
  follow(before: Guard, after?: Guard): Promise<void>
  visit(instance: number): Promise<void>
  log(instance: number): Promise<{ at: number; text: string }[]>
}

/** Seconds until a visit that failed is tried again; the last one stays. */
const pauses = [5, 15, 60, 300]
/** What no later try mends: the wish is given up where it is answered. */
const hopeless = new Set(['no_http_tool', 'no_instance_key', 'no_gpu_load', 'no_posix_shell', 'disk_full'])

export function openWatchdogs(context: AccountContext, stored: StoredWatchdogs): Watchdogs {
  const { account, store, machine, activity, access, ending } = context
  const { clock } = machine
  const { all, find, put, show, problems } = stored
  const fails = new Map<number, number>()
  const missing = new Map<number, number>()
  /** Instances whose start script brings one, and which were looked into already. */
  const sought = new Set<number>()
  /** Visits that wait for their time, by instance; and those under way, one after the other. */
  const waiting = new Map<number, () => void>()
  const underWay = new Map<number, Promise<void>>()

  const viewOf = (instance: number) => store.get().accounts[account]?.instances[instance]
  const alerts = createWatchdogAlerts(context)
  const { nameOf } = alerts

  async function forget(instance: number): Promise<void> {
    waiting.get(instance)?.()
    waiting.delete(instance)
    problems.delete(instance)
    fails.delete(instance)
    missing.delete(instance)
    await stored.forget(instance)
  }

  /** The next visit, so many seconds from now. Those of a watchdog that is there wait for no look at the service. */
  function visitIn(instance: number, seconds: number): void {
    waiting.get(instance)?.()
    waiting.delete(instance)
    if (ending.aborted || !find(instance)) return
    waiting.set(
      instance,
      clock.after(seconds * 1000, () => void visit(instance).catch(() => undefined)),
    )
  }

  /** By the account's time: a lease ends by it, and the demo's runs faster than this machine's. */
  function visitAgain(kept: StoredWatchdog): void {
    visitIn(kept.instance, visitEvery(kept) / (store.get().accounts[account]?.clock.rate ?? 1))
  }

  /** One visit after the other; rejects with why it failed, and is repeated by itself all the same. */
  function visit(instance: number): Promise<void> {
    const before = underWay.get(instance) ?? Promise.resolve()
    const mine = before.catch(() => undefined).then(() => visitOnce(instance))
    underWay.set(instance, mine)
    return mine
  }

  async function visitOnce(instance: number): Promise<void> {
    if (ending.aborted || !find(instance)) return
    const view = viewOf(instance)
    // It is visited once a look shows that it can be entered again.
    if (!view || !canGetIn(view)) return
    try {
      await within(view, connection => settle(instance, connection))
      problems.delete(instance)
      fails.delete(instance)
      const kept = find(instance)
      if (kept) visitAgain(kept)
    } catch (error) {
      if (ending.aborted) return
      const failed = fails.get(instance) ?? 0
      fails.set(instance, failed + 1)
      problems.set(instance, problemOf(error))
      visitIn(instance, pauses[Math.min(failed, pauses.length - 1)] ?? 300)
      throw error
    } finally {
      show()
    }
  }

  async function within<Got>(
    view: InstanceView,
    work: (connection: Connection) => Promise<Got>,
  ): Promise<Got> {
    const lease = await access.connect({ account, instance: view, client: context.client() })
    try {
      return await work(lease.connection)
    } finally {
      lease.release()
    }
  }

  /** Brings about what is wanted, and notes what is seen. */
  async function settle(instance: number, connection: Connection): Promise<void> {
    const kept = find(instance)
    if (!kept) return
    if (kept.step === 'removing') {
      await removeWatchdog(connection, clock)
      await forget(instance)
      activity.add({ account, instance, kind: 'berth', text: `The watchdog is off ${nameOf(instance)}` })
      return
    }
    const lease = kept.foreign || kept.wish.lease === undefined ? '' : machine.random.hex(16)
    const look =
      kept.step === 'putting'
        ? await putWatchdog(connection, clock, await configOf(kept), lease)
        : await lookAtWatchdog(connection, clock, lease)
    // The user may have wanted something else meanwhile: the next visit is for that.
    const now = find(instance)
    if (!now || now.step !== kept.step || !same(now.wish, kept.wish)) return visitIn(instance, 0)
    await note(now, look, lease !== '')
  }

  async function configOf({ instance, wish }: StoredWatchdog) {
    const key = await machine.keychain.get(instanceKeyEntry(account, instance)).catch(() => undefined)
    const url = store.get().accounts[account]?.baseUrl ?? ''
    return { wish, instance, url, now: context.now(), tick: tickOf(wish), key }
  }

  async function note(kept: StoredWatchdog, look: WatchdogLook | undefined, renewed: boolean): Promise<void> {
    const { instance } = kept
    const at = context.now()
    if (!look) {
      if (kept.step === 'lost') return
      await put({ ...kept, step: 'lost' })
      alerts.gone(instance)
      return
    }
    const { load, idleFor, leasedFor, why, tries, key, hooked, did } = look
    if (kept.step === 'putting')
      activity.add({
        account,
        instance,
        kind: 'berth',
        text: `A watchdog is on ${nameOf(instance)}`,
        detail: requestSentence(kept.wish),
      })
    if (did && isNews(did, kept.did)) alerts.ended(did, instance)
    const seen = { at, load, idleFor, leasedFor, why, tries, key, comesBack: hooked || startsIt(instance) }
    await put({
      ...kept,
      ...(kept.foreign ? { wish: look.wish } : {}),
      step: 'watching',
      seen: seen,
      ...(renewed ? { renewedAt: at } : {}),
      ...(did ? { did } : {}),
    })
  }

  /** Whether a run counts on it. */
  function runsNeed(instance: number): boolean {
    const runs = Object.values(store.get().accounts[account]?.runs ?? {})
    return runs.some(run => run.instance === instance && run.watchdog && isGoing(run))
  }

  /** Whether the start script of the rental brings it back. */
  function startsIt(instance: number): boolean {
    return startsWatchdog(context.record(instance)?.onstart)
  }

  /** There may be one already, from a wish whose answer was lost or from another Berth. */
  async function discover(view: InstanceView): Promise<void> {
    const look = await within(view, connection => lookAtWatchdog(connection, clock, ''))
    if (!look || find(view.id)) return
    const kept = { instance: view.id, wish: look.wish }
    if (!look.placed) {
      // From the start script, and it does not know its instance yet.
      await put({ ...kept, step: 'putting', foreign: false })
      return visitIn(view.id, 0)
    }
    const foreign: StoredWatchdog = { ...kept, step: 'watching', foreign: true }
    await note(foreign, look, false)
    visitAgain(foreign)
  }

  function existing(instance: number): InstanceView {
    const view = viewOf(instance)
    if (!view || !canGetIn(view))
      throw new BerthError({
        code: 'not_running',
        message: `${nameOf(instance)} is not running, so nothing can be done inside it.`,
        advice: 'Start it, or wait until it is running.',
      })
    return view
  }

  return {
    async put(instance, wish) {
      mustBeAhead(wish, context.now())
      existing(instance)
      const before = find(instance)
      const kept: StoredWatchdog = { instance, wish, step: 'putting', foreign: false, did: before?.did }
      await stored.add(kept)
      try {
        await visit(instance)
      } catch (error) {
        const code = problemOf(error).code
        if (!hopeless.has(code)) throw error
        await (before ? put(before) : forget(instance))
        throw error
      }
    },
    async remove(instance) {
      const kept = find(instance)
      if (!kept) return
      if (kept.step === 'lost') return forget(instance)
      await stored.add({ ...kept, step: 'removing' })
      await visit(instance).catch(() => undefined)
    },
    async follow(before, after) {
      const { instance } = before
      const kept = find(instance ?? 0)
      const part = watchdogPart(before)
      if (!kept || !part || kept.foreign || kept.step === 'removing' || !includesPart(kept.wish, part)) return
      const next = after && watchdogPart(after)
      const left = withoutPart(kept.wish, part)
      // One that waits for runs alone has no condition.
      const rest = left ?? (runsNeed(kept.instance) ? { action: kept.wish.action } : undefined)
      const wish = next ? withPart(rest, next) : rest
      await put(wish ? { ...kept, wish, step: 'putting' } : { ...kept, step: 'removing' })
      visitIn(kept.instance, 0)
    },
    async visit(instance) {
      const view = existing(instance)
      if (find(instance)) await visit(instance)
      else await discover(view)
    },
    log: instance => within(existing(instance), connection => watchdogLog(connection, clock)),
    onPoll({ account: { instances }, records, at }: AccountPoll) {
      for (const { id, onstart } of records) {
        const view = instances[id]
        if (!view || !canGetIn(view) || find(id) || sought.has(id) || !startsWatchdog(onstart)) continue
        sought.add(id)
        void discover(view).catch(() => sought.delete(id))
      }
      for (const kept of all()) {
        const { instance } = kept
        const view = instances[instance]
        alerts.saw(view)
        const absent = view ? 0 : (missing.get(instance) ?? 0) + 1
        missing.set(instance, absent)
        if (!view && absent < pollsUntilGone) continue
        const after = afterPoll(kept, view, at)
        if (after.did) alerts.ended(after.did, instance, true)
        if (!view) {
          void forget(instance)
          continue
        }
        if (after.kept !== kept) void put(after.kept)
        if (canGetIn(view)) {
          if (!waiting.has(instance) && !underWay.has(instance)) visitIn(instance, 0)
        } else {
          waiting.get(instance)?.()
          waiting.delete(instance)
          underWay.delete(instance)
        }
      }
    },
    resume() {
      for (const { instance } of all()) alerts.saw(viewOf(instance))
      show()
    },
    async flush() {
      for (const cancel of waiting.values()) cancel()
      waiting.clear()
      await Promise.allSettled(underWay.values())
      await stored.flush()
    },
  }
}
