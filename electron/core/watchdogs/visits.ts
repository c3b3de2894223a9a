import { watchdogWords } from '#shared/automation/limit-words.ts'
import type { WatchdogEnding } from '#shared/automation/watchdog.ts'
import { canGetIn } from '#shared/derived.ts'
import { shortInstanceName } from '#shared/format/name.ts'
import type { AccountId } from '#shared/ids.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import { hasTrait } from '#shared/instance/state-traits.ts'
import { BerthError } from '#shared/problem.ts'
import type { AccountView } from '#shared/state.ts'
import type { Connection } from '#ssh/connection/connection.ts'
import { requestInScript } from '#ssh/watchdog/start-script.ts'
import { putWatchdog, readWatchdog, removeWatchdog, type WatchdogReading } from '#ssh/watchdog/watchdog.ts'
import { type AccountContext, withConnection } from '../account-context.ts'
import { alertOf } from '../alerts/events.ts'
import { problemOf } from '../bridge/problems.ts'
import { instanceKeyEntry } from '../instances/mark.ts'
import type { Limits } from '../limits/service.ts'
import { isDeepEqual } from '../storage/store.ts'
import { actedWords, blindWords, goneWords, othersWatchdog, othersWords, untoldWords } from './messages.ts'
import type { StoredWatchdog, StoredWatchdogs } from './record.ts'
import { afterVisit, tickOf, untoldOf, visitEvery } from './step.ts'

/** Errors of an instance on which no watchdog can work. */
const powerless = new Set(['no_http_tool', 'no_instance_key', 'no_service_there', 'instance_key_refused'])

/** Milliseconds after which a watchdog asks the service again whether it could act. */
const asksEvery = 3_600_000

/**
 * Sets limits with the conditions of a watchdog that was found on an instance. Resolves with a function that undoes it.
 */
export type AdoptWatchdog = Limits['adopt']

/** The lines with which an instance of that name tells what its watchdog does; empty for none. Rejects while unknown. */
export type TellOf = (account: AccountId, name: string) => Promise<string>

/** Visits to instances for their watchdogs, and what is told of them. */
export class WatchdogVisits {
  readonly #context: AccountContext
  readonly #watchdogs: StoredWatchdogs
  readonly #adopt: AdoptWatchdog
  readonly #tellOf: TellOf
  readonly #owner: () => Promise<string>
  readonly #isRentedHere: (instance: number) => boolean
  /** Instances whose watchdog of another Berth is being taken over. */
  readonly takenOver = new Set<number>()
  /** Instances for which the user waits, who hears of an error. */
  readonly asked = new Set<number>()
  /** Since when visits fail, epoch seconds of the account's time. */
  readonly #failingSince = new Map<number, number>()
  /** When watchdogs last asked the service, monotonic milliseconds. */
  readonly #askedAt = new Map<number, number>()
  /** The names of instances, for when they are gone. */
  readonly #names = new Map<number, string>()

  constructor(
    context: AccountContext,
    watchdogs: StoredWatchdogs,
    adopt: AdoptWatchdog,
    tellOf: TellOf,
    owner: () => Promise<string>,
    isRentedHere: (instance: number) => boolean,
  ) {
    this.#context = context
    this.#watchdogs = watchdogs
    this.#adopt = adopt
    this.#tellOf = tellOf
    this.#owner = owner
    this.#isRentedHere = isRentedHere
  }

  nameOf(instance: number): string {
    const view = this.#account()?.instances[instance]
    return view ? shortInstanceName(view) : (this.#names.get(instance) ?? shortInstanceName({ id: instance }))
  }

  /** Remembers an instance's name for when it is gone. */
  saw(view: InstanceView | undefined): void {
    if (view) this.#names.set(view.id, shortInstanceName(view))
  }

  /** Reports a watchdog's action, as a poll shows it. */
  tellActed(did: WatchdogEnding, instance: number, known: Parameters<typeof actedWords>[2]): void {
    this.#tell(instance, actedWords(this.nameOf(instance), did, known))
  }

  /**
   * Installs or removes the watchdog as requested, and records its report. Resolves with the seconds until the next visit,
   * undefined for none. Rejects with the reason if it cannot.
   */
  async visit(instance: number): Promise<number | undefined> {
    const { quitting } = this.#context
    const { find, problems, show } = this.#watchdogs
    const there = this.#account()?.instances[instance]
    // The next visit comes once a poll shows that it accepts connections again.
    if (quitting.aborted || !find(instance) || !there || !canGetIn(there)) {
      // One that boots with a watchdog from its start script can't be told of a change either, nor one without an address.
      const runs = there?.state === 'running'
      const boots = there && !hasTrait(there.state, 'halted') && find(instance)?.there
      if ((runs || boots) && !quitting.aborted) await this.#tellUntold(instance, { boots: !runs })
      else this.#failingSince.delete(instance)
      return undefined
    }
    try {
      const next = await withConnection(this.#context, there, connection =>
        this.#bringAbout(instance, connection),
      )
      problems.delete(instance)
      this.#failingSince.delete(instance)
      return next
    } catch (error) {
      if (!quitting.aborted) {
        const problem = problemOf(error)
        // A single answer may be lost.
        const isSure = problem.code !== 'no_service_there' || problems.get(instance)?.code === problem.code
        problems.set(instance, problem)
        const why = isSure && powerless.has(problem.code) ? problem.message : undefined
        await this.#tellUntold(instance, { why })
      }
      throw error
    } finally {
      show()
    }
  }

  /** Once, where one can't be installed, or can't be told of a change and acts before its user wants it to, or long after. */
  async #tellUntold(
    instance: number,
    { why, boots }: { why?: string | undefined; boots?: boolean },
  ): Promise<void> {
    const found = this.#watchdogs.find(instance)
    const now = this.#context.now()
    const since = Math.min(this.#failingSince.get(instance) ?? now, now)
    this.#failingSince.set(instance, since)
    if (!found) return
    // What keeps this one from working kept the start script's as well. One that lost its way out is to be put again.
    const step = found.step === 'watching' ? 'putting' : found.step
    const watchdog = why === undefined ? found : { ...found, step, there: undefined }
    const what = untoldOf(watchdog, now, why === undefined ? now - since : Number.POSITIVE_INFINITY, boots)
    if (!what || what.kind === found.told) return
    await this.#watchdogs.put({ ...watchdog, told: what.kind })
    const { account, notifications } = this.#context
    const id = this.#alertId(instance)
    const words = untoldWords(this.nameOf(instance), what, now, why)
    notifications.tell(account, [alertOf('watchdogLate', { id, instance, ...words })])
  }

  /** Looks for a watchdog of a request whose answer was lost, of a start script, or of another Berth; whether one is there. */
  async discover(there: InstanceView): Promise<boolean> {
    const { clock } = this.#context.platform
    const reading = await withConnection(this.#context, there, connection =>
      readWatchdog(connection, clock, ''),
    )
    if (!reading || this.#watchdogs.find(there.id)) return false
    const watchdog = { instance: there.id, request: reading.request }
    if (!reading.placed) {
      // Installed by the start script, without its instance's id yet. What this Berth rented has the limits that its user left.
      const step = this.#isRentedHere(there.id) ? 'removing' : 'putting'
      if (step === 'putting') await this.#adopt(there.id, reading.request)
      await this.#watchdogs.put({ ...watchdog, there: reading.request, step, foreign: false })
    } else await this.#record({ ...watchdog, step: 'watching', foreign: true }, reading, false)
    return true
  }

  async #bringAbout(instance: number, connection: Connection): Promise<number | undefined> {
    const { clock, random } = this.#context.platform
    const { find, problems, forget } = this.#watchdogs
    const watchdog = find(instance)
    if (!watchdog) return undefined
    if (watchdog.step !== 'watching' && !this.takenOver.has(instance)) {
      const there = await readWatchdog(connection, clock, '')
      if (there && (await this.#isOthers(there))) return this.#leaveToOther(watchdog, there)
    }
    if (watchdog.step === 'removing') {
      await removeWatchdog(connection, clock, instance)
      // It may be wanted again meanwhile.
      if (find(instance)?.step !== 'removing') return 0
      problems.delete(instance)
      await forget(instance)
      this.#note(instance, `Removed the watchdog from ${this.nameOf(instance)}`)
      return undefined
    }
    const lease = watchdog.foreign || watchdog.request.lease === undefined ? '' : random.hex(16)
    const tell = await this.#tellFrom(watchdog)
    const asks = this.#isToAsk(watchdog)
    const reading =
      watchdog.step === 'putting'
        ? await putWatchdog(connection, clock, await this.#configOf(watchdog), lease, tell)
        : await readWatchdog(connection, clock, lease, tell, asks)
    this.takenOver.delete(instance)
    const now = find(instance)
    if (!now) return undefined
    // The user may have changed it meanwhile, which the next visit handles.
    if (now.step !== watchdog.step || !isDeepEqual(now.request, watchdog.request)) return 0
    if (reading && !now.foreign && (await this.#isOthers(reading))) return this.#leaveToOther(now, reading)
    if (reading && !reading.placed && now.step === 'watching') {
      // The start script's again, in a container that was made anew.
      await this.#watchdogs.put({ ...now, there: reading.request, step: 'putting' })
      return 0
    }
    // It stays there, since the way out may open again.
    if (reading?.cannot) throw new BerthError(reading.cannot)
    if (asks) this.#askedAt.set(instance, clock.monotonic())
    await this.#record(now, reading, lease !== '')
    // In the account's time, which leases use, and which runs faster in the demo.
    return visitEvery(now) / (this.#account()?.clock.rate ?? 1)
  }

  /** Whether it asks the service now: when it is put, and then now and again. An outage of the service isn't its own. */
  #isToAsk({ instance, step, foreign }: StoredWatchdog): boolean {
    if (step === 'putting') return true
    if (foreign || this.#account()?.connection.status !== 'online') return false
    const askedAt = this.#askedAt.get(instance) ?? Number.NEGATIVE_INFINITY
    return this.#context.platform.clock.monotonic() >= askedAt + asksEvery
  }

  /** Whether another Berth installed it, as far as it says who did. */
  async #isOthers({ placed, owner }: WatchdogReading): Promise<boolean> {
    return placed && owner !== undefined && owner !== (await this.#owner())
  }

  /** Leaves a watchdog as it is that another Berth has installed meanwhile. Throws `others_watchdog` where one is wanted. */
  async #leaveToOther(before: StoredWatchdog, reading: WatchdogReading): Promise<number> {
    const { instance } = before
    const [name, now] = [this.nameOf(instance), this.#context.now()]
    const { request } = reading
    await this.#record({ instance, request, step: 'watching', foreign: true }, reading, false)
    if (before.step !== 'removing' && !this.asked.has(instance)) this.#tell(instance, othersWords(name))
    if (before.step === 'putting') throw new BerthError(othersWatchdog(name, watchdogWords(request, now)))
    return visitEvery({ ...before, foreign: true })
  }

  async #configOf({ instance, request }: StoredWatchdog) {
    const { account, now, platform } = this.#context
    const key = await platform.keychain.get(instanceKeyEntry(account, instance)).catch(() => undefined)
    const url = this.#account()?.baseUrl ?? ''
    return { request, instance, url, now: now(), tick: tickOf(request), key, owner: await this.#owner() }
  }

  /** What the instance keeps of it stays where the keychain can't be read. */
  async #tellFrom({ instance, foreign }: StoredWatchdog): Promise<string> {
    if (foreign) return 'keep'
    return this.#tellOf(this.#context.account, this.nameOf(instance)).catch(() => 'keep')
  }

  async #record(
    watchdog: StoredWatchdog,
    reading: WatchdogReading | undefined,
    renewed: boolean,
  ): Promise<void> {
    const { now, record } = this.#context
    const { instance } = watchdog
    const name = this.nameOf(instance)
    if (!reading) {
      if (watchdog.step === 'lost') return
      await this.#watchdogs.put({ ...watchdog, step: 'lost' })
      this.#tell(instance, goneWords(name))
      return
    }
    if (watchdog.step === 'putting')
      this.#note(instance, `Installed a watchdog on ${name}`, watchdogWords(watchdog.request, now()))
    if (reading.blind && !watchdog.report?.blind) this.#tell(instance, blindWords(name))
    if (watchdog.told) this.#context.notifications.withdraw(this.#alertId(instance))
    const startsIt = requestInScript(record(instance)?.onstart) !== undefined
    await this.#watchdogs.put(afterVisit(watchdog, reading, { at: now(), renewed, startsIt }))
  }

  #alertId = (instance: number) => `${this.#context.account}/watchdog/${instance}`

  #account(): AccountView | undefined {
    return this.#context.store.get().accounts[this.#context.account]
  }

  #note(instance: number, text: string, detail?: string): void {
    const { account, activity } = this.#context
    activity.add({ account, instance, kind: 'berth', text, detail })
  }

  /** One id per instance: a watchdog's newest action replaces the one before. */
  #tell(instance: number, words: { title: string; body: string }): void {
    const { account, notifications } = this.#context
    notifications.tell(account, [alertOf('watchdog', { id: this.#alertId(instance), instance, ...words })])
  }
}
