import { watchdogWords } from '#shared/automation/limit-words.ts'
import { isGoing } from '#shared/automation/run.ts'
import { canGetIn } from '#shared/derived.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import { BerthError } from '#shared/problem.ts'
import type { Connection } from '#ssh/connection/connection.ts'
import {
  needLoad,
  putWatchdog,
  readWatchdog,
  removeWatchdog,
  type WatchdogReading,
  watchdogLog,
} from '#ssh/watchdog/watchdog.ts'
import { type AccountContext, type AccountPoll, withConnection } from '../account-context.ts'
import { problemOf } from '../bridge/problems.ts'
import { longestAfter, Worker } from '../engine/worker.ts'
import { instanceKeyEntry } from '../instances/mark.ts'
import { pollsUntilGone } from '../instances/missing-instances.ts'
import { isDeepEqual } from '../storage/store.ts'
import { createWatchdogAlerts, type WatchdogAlerts } from './alerts.ts'
import type { LimitChanges } from './changes.ts'
import { momentAsleep } from './limit-due.ts'
import type { StoredLimits } from './model.ts'
import {
  afterVisit,
  costsReached,
  isNews,
  type StoredWatchdog,
  type StoredWatchdogs,
  startsWatchdog,
  tickOf,
  visitEvery,
  watchdogAfterPoll,
  watchdogRequest,
} from './watchdog-decide.ts'

export type Watchdogs = ReturnType<typeof openWatchdogs>

/** Dependencies of watchdogs, besides the account. */
interface WatchdogParts {
  watchdogs: StoredWatchdogs
  limits: Pick<StoredLimits, 'all' | 'put'>
  /**
   * Sets limits with the conditions of a watchdog that was found on an instance. Resolves with a function that undoes
   * it.
   */
  adopt: LimitChanges['adopt']
}

/** Milliseconds between visits to an instance that cannot be reached for long. */
const rarest = 300_000

/** Errors that no retry solves: the request is withdrawn. */
const hopeless = new Set([
  'no_http_tool',
  'no_instance_key',
  'no_posix_shell',
  'disk_full',
  'gpu_load_unread',
])

/**
 * The watchdogs on one account's instances. Their tasks follow from the limits that also act while this computer
 * sleeps, and from runs. Berth installs, changes and removes them, and renews their leases.
 */
export function openWatchdogs(context: AccountContext, parts: WatchdogParts) {
  const { account, store, platform, ending } = context
  const { watchdogs: stored, limits } = parts
  const { all, find, put } = stored
  /** Instances whose start script installs a watchdog, which were checked already. */
  const sought = new Set<number>()
  const viewOf = (instance: number) => store.get().accounts[account]?.instances[instance]
  const alerts = createWatchdogAlerts(context)
  const { visit, discover } = createWatchdogVisits(context, { ...parts, alerts, forget })
  const worker = new Worker<number>({
    clock: platform.clock,
    ending,
    async turn(instance) {
      const next = await visit(instance)
      return next === undefined ? 'rest' : { after: next * 1000 }
    },
    hindered: (_, { fails }) => (fails < longestAfter ? undefined : { after: rarest }),
  })

  async function forget(instance: number): Promise<void> {
    stored.problems.delete(instance)
    await stored.forget(instance)
    worker.hurry(instance)
  }

  async function seek(view: InstanceView): Promise<void> {
    if (await discover(view)) worker.wake(view.id)
  }

  const own = (instance: number) => limits.all().filter(limit => limit.instance === instance)

  /** Whether a run depends on the watchdog, or has an order there that is outdated. */
  function runsNeed(instance: number): boolean {
    const runs = Object.values(store.get().accounts[account]?.runs ?? {})
    return runs.some(
      run =>
        run.instance === instance &&
        ((run.watchdog && isGoing(run) && run.step !== 'waiting') || run.watchdogStale),
    )
  }

  function existing(instance: number): InstanceView {
    const view = viewOf(instance)
    if (!view || !canGetIn(view))
      throw new BerthError({
        code: 'not_running',
        message: `${alerts.nameOf(instance)} isn’t running, so Berth can’t reach into it.`,
        advice: 'Start it, or wait until it is running.',
      })
    return view
  }

  /**
   * Throws `gpu_load_unread`. An unreachable instance gets the watchdog anyway, which later reports if it can't read
   * the load.
   */
  async function needLoadOf(view: InstanceView): Promise<void> {
    await withConnection(context, view, connection => needLoad(connection, platform.clock)).catch(error => {
      if (problemOf(error).code === 'gpu_load_unread') throw error
    })
  }

  /** Stores the watchdog's task; returns whether it changed. */
  async function want(instance: number): Promise<boolean> {
    const before = find(instance)
    const limited = own(instance)
    const [now, view] = [context.now(), viewOf(instance)]
    const request = watchdogRequest(limited, runsNeed(instance), now, limit =>
      momentAsleep(limit, view, before?.request.at, now),
    )
    // One of another Berth serves runs as it is.
    if (before?.foreign && !limited.some(({ asleep, ended }) => asleep && !ended)) return false
    if (!request) {
      if (!before || before.step === 'removing') return false
      if (before.step === 'lost') await forget(instance)
      else await put({ ...before, step: 'removing' })
      return true
    }
    if (before && !before.foreign && before.step !== 'removing' && isDeepEqual(before.request, request))
      return false
    await put({ ...before, instance, request, step: 'putting', foreign: false })
    return true
  }

  async function settle(instance: number): Promise<void> {
    if (await want(instance)) void worker.once(instance)
  }

  /** Undoes a watchdog that was wanted; `mayBeThere`: a visit after a poll may have put it meanwhile. */
  async function takeBack(instance: number, mayBeThere: boolean): Promise<void> {
    const there = find(instance)
    if (!there || !mayBeThere) return forget(instance)
    await put({ ...there, step: 'removing' })
    void worker.once(instance)
  }

  async function apply(instance: number, insists = false): Promise<void> {
    const view = viewOf(instance)
    if (!insists && !(view && canGetIn(view))) return settle(instance)
    const before = find(instance)
    try {
      if (own(instance).some(({ asleep, ended, when }) => asleep && !ended && when.kind === 'idle'))
        await needLoadOf(existing(instance))
      await want(instance)
      if (find(instance)?.step !== 'watching') await worker.once(instance)
    } catch (error) {
      const { code } = problemOf(error)
      const isHopeless = hopeless.has(code)
      if (isHopeless) await (before ? put(before) : takeBack(instance, code === 'gpu_load_unread'))
      if (isHopeless || insists) throw error
    }
  }

  return {
    /** Lets the watchdog follow its limits and runs, as soon as it can be reached. */
    settle,
    /**
     * The same at once, if it can be reached. Throws errors that no retry solves (`no_instance_key`, `no_http_tool`,
     * `gpu_load_unread`, `no_posix_shell` or `disk_full`), and with `insists` any error that prevents it.
     */
    apply,
    /** Reads it now, and installs one that is gone. */
    async visit(instance: number): Promise<void> {
      const view = existing(instance)
      const watchdog = find(instance)
      if (watchdog?.step === 'lost') await put({ ...watchdog, step: 'putting' })
      await (watchdog ? worker.once(instance) : seek(view))
    },
    /** Makes the watchdog of another Berth this one's, by limits with its conditions. Throws as `apply` does. */
    async adopt(instance: number): Promise<void> {
      const watchdog = find(instance)
      if (!watchdog?.foreign) return
      const undo = await parts.adopt(instance, watchdog.request)
      try {
        await apply(instance, true)
      } catch (error) {
        await undo()
        throw error
      }
    },
    log: (instance: number): Promise<{ at: number; text: string }[]> =>
      withConnection(context, existing(instance), connection => watchdogLog(connection, platform.clock)),
    onPoll({ account: { instances }, records, pollsMissing, at }: AccountPoll): void {
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
        if (after.did?.why === 'time' && view) void limits.put(...costsReached(own(instance), view, at))
        if (!view) {
          void forget(instance)
          continue
        }
        if (after.watchdog !== watchdog) void put(after.watchdog)
        if (canGetIn(view)) worker.wake(instance)
        // Its visit finds that it cannot get in, and is the last one.
        else worker.hurry(instance)
      }
      // Afterwards: a limit whose instance its watchdog has just stopped is over, and asks for nothing any more.
      const asleep = limits
        .all()
        .flatMap(({ asleep, ended, instance }) => (asleep && !ended && instance) || [])
      for (const instance of new Set([...asleep, ...all().map(({ instance }) => instance)]))
        if (instances[instance]) void settle(instance)
    },
    show: stored.show,
    resume(): void {
      for (const { instance } of all()) alerts.saw(viewOf(instance))
    },
    async flush() {
      await worker.flush()
      await stored.flush()
    },
  }
}

/** Visits to instances for their watchdogs. */
function createWatchdogVisits(
  context: AccountContext,
  {
    watchdogs,
    alerts,
    adopt,
    forget,
  }: WatchdogParts & { alerts: WatchdogAlerts; forget: (instance: number) => Promise<void> },
) {
  const { account, store, platform, ending } = context
  const { clock } = platform
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
      // It may be wanted again meanwhile.
      if (find(instance)?.step !== 'removing') return 0
      await forget(instance)
      note(instance, `Removed the watchdog from ${alerts.nameOf(instance)}`)
      return undefined
    }
    const lease = watchdog.foreign || watchdog.request.lease === undefined ? '' : platform.random.hex(16)
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
    const key = await platform.keychain.get(instanceKeyEntry(account, instance)).catch(() => undefined)
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
      note(
        instance,
        `Installed a watchdog on ${alerts.nameOf(instance)}`,
        watchdogWords(watchdog.request, context.now()),
      )
    if (reading.lastAction && isNews(reading.lastAction, watchdog.lastAction))
      alerts.ended(reading.lastAction, instance)
    if (reading.blind && !watchdog.report?.blind) alerts.blind(instance)
    const startsIt = startsWatchdog(context.record(instance)?.onstart)
    await watchdogs.put(afterVisit(watchdog, reading, { at: context.now(), renewed, startsIt }))
  }

  return {
    /**
     * Installs or removes the watchdog as requested, and records its report. Resolves with the seconds until the next visit,
     * undefined for none. Rejects with the reason if it cannot.
     */
    async visit(instance: number): Promise<number | undefined> {
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
    /** Looks for a watchdog of a request whose answer was lost, of a start script, or of another Berth; whether one is there. */
    async discover(there: InstanceView): Promise<boolean> {
      const reading = await withConnection(context, there, connection => readWatchdog(connection, clock, ''))
      if (!reading || find(there.id)) return false
      const watchdog = { instance: there.id, request: reading.request }
      if (!reading.placed) {
        // Installed by the start script, without its instance's id yet.
        await adopt(there.id, reading.request)
        await watchdogs.put({ ...watchdog, step: 'putting', foreign: false })
      } else await record({ ...watchdog, step: 'watching', foreign: true }, reading, false)
      return true
    },
  }
}
