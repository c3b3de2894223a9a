import type { InstanceView } from '#contract/instance/instance.ts'
import { canGetIn } from '#contract/reading.ts'
import { type AccountContext, withConnection } from '#core/account-context.ts'
import { problemOf } from '#core/app/problems.ts'
import { instanceKeyEntry } from '#core/instances/instance-key.ts'
import { isDeepEqual } from '#core/state/same.ts'
import type { Connection } from '#ssh/connection/connection.ts'
import { putWatchdog, readWatchdog, removeWatchdog, type WatchdogReading } from '#ssh/watchdog/watchdog.ts'
import { requestSentence, type WatchdogAlerts } from './alerts.ts'
import { afterVisit, isNews } from './decide.ts'
import { type StoredWatchdog, startsWatchdog, tickOf, visitEvery } from './model.ts'
import type { StoredWatchdogs } from './stored-watchdogs.ts'

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
