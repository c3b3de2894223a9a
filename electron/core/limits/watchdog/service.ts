import { isGoing } from '#contract/automation/run.ts'
import type { WatchdogRequest } from '#contract/automation/watchdog.ts'
import type { InstanceView } from '#contract/instance/instance.ts'
import { BerthError } from '#contract/problem.ts'
import { canGetIn } from '#contract/reading.ts'
import {
  type AccountContext,
  type AccountPoll,
  type Automation,
  withConnection,
} from '#core/account-context.ts'
import { problemOf } from '#core/app/problems.ts'
import { pollsUntilGone } from '#core/instances/missing-polls.ts'
import { needLoad, watchdogLog } from '#ssh/watchdog/watchdog.ts'
import type { Limit } from '../model.ts'
import { mustBeAhead } from './ahead.ts'
import { createWatchdogAlerts } from './alerts.ts'
import { followed, isCarried, watchdogAfterPoll } from './decide.ts'
import { type StoredWatchdog, startsWatchdog } from './model.ts'
import type { StoredWatchdogs } from './stored-watchdogs.ts'
import { createWatchdogVisits } from './visit.ts'
import { VisitQueue } from './visit-queue.ts'

/** The watchdogs on one account's instances: installed, visited so that their leases are renewed, and removed. */
export interface Watchdogs extends Required<Pick<Automation, 'onPoll' | 'show' | 'resume' | 'flush'>> {
  put(instance: number, request: WatchdogRequest): Promise<void>
  remove(instance: number): Promise<void>
  /** A limit has changed: the watchdog with the same condition follows, as soon as it can be reached. */
  follow(before: Limit, after?: Limit): Promise<void>
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
