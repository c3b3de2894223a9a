import { isGoing } from '#contract/automation/run.ts'
import type { WatchdogRequest } from '#contract/automation/watchdog.ts'
import type { InstanceView } from '#contract/instance/instance.ts'
import { BerthError } from '#contract/problem.ts'
import { canGetIn } from '#contract/reading.ts'
import type { Connection } from '#ssh/connection/connection.ts'
import {
  needLoad,
  putWatchdog,
  readWatchdog,
  removeWatchdog,
  type WatchdogReading,
  watchdogLog,
} from '#ssh/watchdog/watchdog.ts'
import { type AccountContext, type AccountPoll, type Automation, withConnection } from '../account-context.ts'
import { problemOf } from '../app/problems.ts'
import { instanceKeyEntry } from '../instances/instance-key.ts'
import { pollsUntilGone } from '../instances/missing-polls.ts'
import { isDeepEqual } from '../state/same.ts'
import type { StoredLimit } from './model.ts'
import { VisitQueue } from './visit-queue.ts'
import { createWatchdogAlerts, requestSentence, type WatchdogAlerts } from './watchdog/alerts.ts'
import {
  afterVisit,
  followed,
  isCarried,
  isNews,
  mustBeAhead,
  type StoredWatchdog,
  type StoredWatchdogs,
  startsWatchdog,
  tickOf,
  visitEvery,
  watchdogAfterPoll,
} from './watchdog-decide.ts'

/** The watchdogs on one account's instances: installed, visited so that their leases are renewed, and removed. */
export interface Watchdogs extends Required<Pick<Automation, 'onPoll' | 'show' | 'resume' | 'flush'>> {
  put(instance: number, request: WatchdogRequest): Promise<void>
  remove(instance: number): Promise<void>
  /** A limit has changed: the watchdog with the same condition follows, as soon as it can be reached. */
  follow(before: StoredLimit, after?: StoredLimit): Promise<void>
  /** An instance without one gets it as soon as it can be reached, unless its time has passed. */
  putSoon(instance: number, request: WatchdogRequest): Promise<void>
  /** A replacement gets the watchdog of the instance that it replaces, as soon as it can be reached. */
  takeOver(replaced: number, instance: number): Promise<void>
  visit(instance: number): Promise<void>
  log(instance: number): Promise<{ at: number; text: string }[]>
}

/** Errors that no retry solves: the request is withdrawn. */
const hopeless = new Set(['no_http_tool', 'no_instance_key', 'no_posix_shell', 'disk_full'])

export function openWatchdogs(context: AccountContext, stored: StoredWatchdogs): Watchdogs {
  const { account, store, machine } = context
  const { all, find, put } = stored
  /** Instances whose start script installs a watchdog, which were checked already. */
  const sought = new Set<number>()
  const viewOf = (instance: number) => store.get().accounts[account]?.instances[instance]
  const alerts = createWatchdogAlerts(context)
  const { visit, discover } = createWatchdogVisits(context, { watchdogs: stored, alerts, forget })
  const visits = new VisitQueue(machine.clock, context.ending, visit)

  async function forget(instance: number): Promise<void> {
    visits.forget(instance)
    stored.problems.delete(instance)
    await stored.forget(instance)
  }

  async function seek(view: InstanceView): Promise<void> {
    const next = await discover(view)
    if (next !== undefined) visits.in(view.id, next)
  }

  /** Whether a run depends on the watchdog. */
  function runsNeed(instance: number): boolean {
    const runs = Object.values(store.get().accounts[account]?.runs ?? {})
    return runs.some(run => run.instance === instance && run.watchdog && isGoing(run))
  }

  function existing(instance: number): InstanceView {
    const view = viewOf(instance)
    if (!view || !canGetIn(view))
      throw new BerthError({
        code: 'not_running',
        message: `${alerts.nameOf(instance)} is not running, so nothing can be done inside it.`,
        advice: 'Start it, or wait until it is running.',
      })
    return view
  }

  /** Throws `gpu_load_unread`. One that cannot be asked now gets the watchdog, which tells later what it cannot see. */
  async function needLoadOf(view: InstanceView): Promise<void> {
    await withConnection(context, view, connection => needLoad(connection, machine.clock)).catch(error => {
      if (problemOf(error).code === 'gpu_load_unread') throw error
    })
  }

  async function putSoon(instance: number, request: WatchdogRequest): Promise<void> {
    const isPast = request.at !== undefined && request.at <= context.now()
    if (!find(instance) && !isPast) await put({ instance, request, step: 'putting', foreign: false })
  }

  return {
    async put(instance, request) {
      mustBeAhead(request, context.now())
      const view = existing(instance)
      if (request.idle) await needLoadOf(view)
      const before = find(instance)
      const watchdog: StoredWatchdog = {
        instance,
        request,
        step: 'putting',
        foreign: false,
        did: before?.did,
      }
      await stored.add(watchdog)
      try {
        await visits.now(instance)
      } catch (error) {
        const code = problemOf(error).code
        if (!hopeless.has(code)) throw error
        await (before ? put(before) : forget(instance))
        throw error
      }
    },
    async remove(instance) {
      const watchdog = find(instance)
      if (!watchdog) return
      if (watchdog.step === 'lost') return forget(instance)
      await stored.add({ ...watchdog, step: 'removing' })
      await visits.now(instance).catch(() => undefined)
    },
    async follow(before, after) {
      const watchdog = find(before.instance ?? 0)
      const next = watchdog && followed(watchdog, before, after, runsNeed(watchdog.instance))
      if (!next) return
      await put(next)
      visits.in(next.instance, 0)
    },
    putSoon,
    async takeOver(replaced, instance) {
      const watchdog = find(replaced)
      if (watchdog && isCarried(watchdog)) await putSoon(instance, watchdog.request)
    },
    async visit(instance) {
      const view = existing(instance)
      await (find(instance) ? visits.now(instance) : seek(view))
    },
    log: instance =>
      withConnection(context, existing(instance), connection => watchdogLog(connection, machine.clock)),
    onPoll({ account: { instances }, records, pollsMissing, at }: AccountPoll) {
      for (const { id, onstart } of records) {
        const view = instances[id]
        if (!view || !canGetIn(view) || find(id) || sought.has(id) || !startsWatchdog(onstart)) continue
        sought.add(id)
        void seek(view).catch(() => sought.delete(id))
      }
      for (const watchdog of all()) {
        const { instance } = watchdog
        const view = instances[instance]
        alerts.saw(view)
        if (!view && pollsMissing(instance) < pollsUntilGone) continue
        const after = watchdogAfterPoll(watchdog, view, at)
        if (after.did) alerts.ended(after.did, instance, true)
        if (!view) {
          void forget(instance)
          continue
        }
        if (after.watchdog !== watchdog) void put(after.watchdog)
        if (canGetIn(view)) {
          if (!visits.has(instance)) visits.in(instance, 0)
        } else visits.rest(instance)
      }
    },
    show: stored.show,
    resume() {
      for (const { instance } of all()) alerts.saw(viewOf(instance))
    },
    async flush() {
      await visits.end()
      await stored.flush()
    },
  }
}

/** Visits to instances for their watchdogs. Both return the seconds until the next visit, undefined for none. */
export interface WatchdogVisits {
  /** Installs or removes the watchdog as requested, and records its report. Rejects with the reason if it cannot. */
  visit(instance: number): Promise<number | undefined>
  /** Looks for a watchdog of a request whose answer was lost, of a start script, or of another Berth. */
  discover(view: InstanceView): Promise<number | undefined>
}

export function createWatchdogVisits(
  context: AccountContext,
  {
    watchdogs,
    alerts,
    forget,
  }: { watchdogs: StoredWatchdogs; alerts: WatchdogAlerts; forget: (instance: number) => Promise<void> },
): WatchdogVisits {
  const { account, store, machine, ending } = context
  const { clock } = machine
  const { find, problems } = watchdogs
  const view = () => store.get().accounts[account]

  function note(instance: number, text: string, detail?: string): void {
    context.activity.add({ account, instance, kind: 'berth', text, detail })
  }

  /** In the account's time, which leases use, and which runs faster in the demo. */
  const untilNext = (watchdog: StoredWatchdog) => visitEvery(watchdog) / (view()?.clock.rate ?? 1)

  async function bringAbout(instance: number, connection: Connection): Promise<number | undefined> {
    const watchdog = find(instance)
    if (!watchdog) return undefined
    if (watchdog.step === 'removing') {
      await removeWatchdog(connection, clock)
      await forget(instance)
      note(instance, `The watchdog is off ${alerts.nameOf(instance)}`)
      return undefined
    }
    const lease = watchdog.foreign || watchdog.request.lease === undefined ? '' : machine.random.hex(16)
    const reading =
      watchdog.step === 'putting'
        ? await putWatchdog(connection, clock, await configOf(watchdog), lease)
        : await readWatchdog(connection, clock, lease)
    const now = find(instance)
    if (!now) return undefined
    // The user may have changed it meanwhile, which the next visit handles.
    if (now.step !== watchdog.step || !isDeepEqual(now.request, watchdog.request)) return 0
    await record(now, reading, lease !== '')
    return untilNext(now)
  }

  async function configOf({ instance, request }: StoredWatchdog) {
    const key = await machine.keychain.get(instanceKeyEntry(account, instance)).catch(() => undefined)
    return { request, instance, url: view()?.baseUrl ?? '', now: context.now(), tick: tickOf(request), key }
  }

  async function record(
    watchdog: StoredWatchdog,
    reading: WatchdogReading | undefined,
    renewed: boolean,
  ): Promise<void> {
    const { instance } = watchdog
    if (!reading) {
      if (watchdog.step === 'lost') return
      await watchdogs.put({ ...watchdog, step: 'lost' })
      alerts.gone(instance)
      return
    }
    if (watchdog.step === 'putting')
      note(instance, `A watchdog is on ${alerts.nameOf(instance)}`, requestSentence(watchdog.request))
    if (reading.did && isNews(reading.did, watchdog.did)) alerts.ended(reading.did, instance)
    if (reading.blind && !watchdog.seen?.blind) alerts.blind(instance)
    const startsIt = startsWatchdog(context.record(instance)?.onstart)
    await watchdogs.put(afterVisit(watchdog, reading, { at: context.now(), renewed, startsIt }))
  }

  return {
    async visit(instance) {
      const there = view()?.instances[instance]
      // The next visit comes once a poll shows that it accepts connections again.
      if (ending.aborted || !find(instance) || !there || !canGetIn(there)) return undefined
      try {
        const next = await withConnection(context, there, connection => bringAbout(instance, connection))
        problems.delete(instance)
        return next
      } catch (error) {
        if (!ending.aborted) problems.set(instance, problemOf(error))
        throw error
      } finally {
        watchdogs.show()
      }
    },
    async discover(there) {
      const reading = await withConnection(context, there, connection => readWatchdog(connection, clock, ''))
      if (!reading || find(there.id)) return undefined
      const watchdog = { instance: there.id, request: reading.request }
      if (!reading.placed) {
        // Installed by the start script, without its instance's id yet.
        await watchdogs.put({ ...watchdog, step: 'putting', foreign: false })
        return 0
      }
      const foreign: StoredWatchdog = { ...watchdog, step: 'watching', foreign: true }
      await record(foreign, reading, false)
      return untilNext(foreign)
    },
  }
}
