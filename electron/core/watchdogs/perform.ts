import { isGoing } from '#shared/automation/run.ts'
import type { WatchdogRequest } from '#shared/automation/watchdog.ts'
import { canGetIn } from '#shared/derived.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import { BerthError } from '#shared/problem.ts'
import { requestInScript } from '#ssh/watchdog/start-script.ts'
import { needLoad, watchdogLog } from '#ssh/watchdog/watchdog.ts'
import { type AccountContext, type AccountPoll, withConnection } from '../account-context.ts'
import { problemOf } from '../bridge/problems.ts'
import { type Next, Worker } from '../engine/worker.ts'
import { pollsUntilGone } from '../instances/missing-instances.ts'
import { limitAlertId } from '../limits/alerts.ts'
import { momentAsleep } from '../limits/limit-due.ts'
import type { StoredLimit, StoredLimits } from '../limits/model.ts'
import { isDeepEqual } from '../storage/store.ts'
import { notRunning } from './messages.ts'
import type { StoredWatchdog, StoredWatchdogs } from './record.ts'
import { costReached, limitOfWatchdog, watchdogAfterPoll, watchdogRequest } from './step.ts'
import { type AdoptWatchdog, type TellOf, WatchdogVisits } from './visits.ts'

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
export class Watchdogs {
  readonly #context: AccountContext
  readonly #stored: StoredWatchdogs
  readonly #limits: Pick<StoredLimits, 'all' | 'put'>
  readonly #adopt: AdoptWatchdog
  readonly #visits: WatchdogVisits
  readonly #worker: Worker<number>
  /** Instances whose start script installs a watchdog, which were checked already. */
  readonly #sought = new Set<number>()

  constructor(
    context: AccountContext,
    stored: StoredWatchdogs,
    limits: Pick<StoredLimits, 'all' | 'put'>,
    adopt: AdoptWatchdog,
    tellOf: TellOf,
    owner: () => Promise<string>,
    isRentedHere: (instance: number) => boolean,
  ) {
    this.#context = context
    this.#stored = stored
    this.#limits = limits
    this.#adopt = adopt
    this.#visits = new WatchdogVisits(context, stored, adopt, tellOf, owner, isRentedHere)
    this.#worker = new Worker({
      clock: context.platform.clock,
      quitting: context.quitting,
      turn: instance => this.#turn(instance),
    })
  }

  /** Lets the watchdog follow its limits and runs, as soon as it can be reached. */
  async settle(instance: number): Promise<void> {
    if (await this.#want(instance)) void this.#worker.once(instance)
  }

  /**
   * The same at once, if it can be reached. Throws errors that no retry solves (`no_instance_key`, `no_http_tool`,
   * `gpu_load_unread`, `no_posix_shell`, `disk_full`, or `others_watchdog` where another Berth has installed one), and
   * with `insists` any error that prevents it.
   */
  async apply(instance: number, insists: boolean = false): Promise<void> {
    const view = this.#viewOf(instance)
    if (!insists && !(view && canGetIn(view))) return this.settle(instance)
    const before = this.#stored.find(instance)
    this.#visits.asked.add(instance)
    try {
      if (this.#own(instance).some(({ asleep, ended, when }) => asleep && !ended && when.kind === 'idle'))
        await this.#needLoadOf(this.#existing(instance))
      await this.#want(instance, true)
      if (this.#stored.find(instance)?.step !== 'watching') await this.#worker.once(instance)
    } catch (error) {
      const { code } = problemOf(error)
      if (code === 'others_watchdog') throw error
      const isHopeless = hopeless.has(code)
      if (isHopeless && before) await this.#stored.put(before)
      else if (isHopeless) await this.#takeBack(instance, code === 'gpu_load_unread')
      if (isHopeless || insists) throw error
    } finally {
      this.#visits.asked.delete(instance)
    }
  }

  /** Reads it now, and installs one that is gone. */
  async visit(instance: number): Promise<void> {
    const view = this.#existing(instance)
    const watchdog = this.#stored.find(instance)
    if (watchdog?.step === 'lost') await this.#stored.put({ ...watchdog, step: 'putting' })
    await (watchdog ? this.#worker.once(instance) : this.#seek(view))
  }

  /** Makes the watchdog of another Berth this one's, by limits with its conditions. Throws as `apply` does. */
  async adopt(instance: number): Promise<void> {
    const watchdog = this.#stored.find(instance)
    if (!watchdog?.foreign) return
    const undo = await this.#adopt(instance, watchdog.request)
    this.#visits.takenOver.add(instance)
    try {
      await this.apply(instance, true)
    } catch (error) {
      this.#visits.takenOver.delete(instance)
      await undo()
      throw error
    }
  }

  log(instance: number): Promise<{ at: number; text: string }[]> {
    const { clock } = this.#context.platform
    return withConnection(this.#context, this.#existing(instance), connection =>
      watchdogLog(connection, clock),
    )
  }

  /** An instance's start script brings one, which goes by that until Berth has visited it. */
  async brought(instance: number, there: WatchdogRequest): Promise<void> {
    const known = this.#stored.find(instance)
    if (!known) await this.#stored.put({ instance, request: there, there, step: 'putting', foreign: false })
    // A visit has found that none can work there.
    else if (known.told === 'absent') return
    else if (known.step !== 'watching' && !known.there && !known.report && !known.foreign)
      await this.#stored.put({ ...known, there })
  }

  onPoll({ account: { instances }, records, pollsMissing, at }: AccountPoll): void {
    const { account, notifications } = this.#context
    for (const { id, onstart } of records) {
      const view = instances[id]
      const brought = requestInScript(onstart)
      if (!view || !brought) continue
      if (this.#stored.find(id)) {
        void this.brought(id, brought)
        continue
      }
      if (!canGetIn(view)) this.#sought.delete(id)
      if (!canGetIn(view) || this.#sought.has(id)) continue
      this.#sought.add(id)
      void this.#seek(view).catch(() => this.#sought.delete(id))
    }
    for (const watchdog of this.#stored.all()) {
      const { instance } = watchdog
      const view = instances[instance]
      this.#visits.saw(view)
      if (!view && pollsMissing(instance) < pollsUntilGone) continue
      const after = watchdogAfterPoll(watchdog, view, at)
      const limit = after.did && limitOfWatchdog(this.#own(instance), after.did)
      if (after.did) this.#visits.tellActed(after.did, instance, { seems: after.seems, limit })
      if (view && limit?.when.kind === 'cost' && limit.action === 'stop' && !limit.ended) {
        // Its warning is over with it.
        notifications.withdraw(limitAlertId(account, limit.id))
        void this.#limits.put(costReached(limit, view, at))
      }
      if (!view) {
        void this.#forget(instance)
        continue
      }
      if (after.watchdog !== watchdog) void this.#stored.put(after.watchdog)
      if (canGetIn(view)) this.#worker.wake(instance)
      // Its visit finds that it cannot get in, and is the last one.
      else this.#worker.hurry(instance)
    }
    // Afterwards: a limit whose instance its watchdog has just stopped is over, and asks for nothing any more.
    const asleep = this.#limits
      .all()
      .flatMap(({ asleep, ended, instance }) => (asleep && !ended && instance) || [])
    for (const instance of new Set([...asleep, ...this.#stored.all().map(({ instance }) => instance)]))
      if (instances[instance]) void this.settle(instance)
  }

  show(): void {
    this.#stored.show()
  }

  resume(): void {
    for (const { instance } of this.#stored.all()) this.#visits.saw(this.#viewOf(instance))
  }

  async flush(): Promise<void> {
    await this.#worker.flush()
    await this.#stored.flush()
  }

  async #turn(instance: number): Promise<Next> {
    const next = await this.#visits.visit(instance)
    return next === undefined ? 'rest' : { after: next * 1000 }
  }

  /** Stores the watchdog's task; returns whether it changed. `asked`: the user wants it, and hears of another Berth's. */
  async #want(instance: number, asked: boolean = false): Promise<boolean> {
    const before = this.#stored.find(instance)
    const limited = this.#own(instance)
    const [now, view] = [this.#context.now(), this.#viewOf(instance)]
    const request = watchdogRequest(limited, this.#runsNeed(instance), now, limit =>
      momentAsleep(limit, view, before?.request.at, now),
    )
    // One of another Berth serves runs as it is, and stays until it is taken over.
    const wanted = asked && limited.some(({ asleep, ended }) => asleep && !ended)
    if (before?.foreign && before.step === 'watching' && !wanted) return false
    if (!request) {
      if (!before || before.step === 'removing') return false
      if (before.step === 'lost') await this.#forget(instance)
      else await this.#stored.put({ ...before, step: 'removing', there: thereBefore(before) })
      return true
    }
    if (before && !before.foreign && before.step !== 'removing' && isDeepEqual(before.request, request))
      return false
    const there = before && thereBefore(before)
    await this.#stored.put({ ...before, instance, request, there, step: 'putting', foreign: false })
    return true
  }

  /** Undoes a watchdog that was wanted; `mayBeThere`: a visit after a poll may have put it meanwhile. */
  async #takeBack(instance: number, mayBeThere: boolean): Promise<void> {
    const there = this.#stored.find(instance)
    if (!there || !mayBeThere) return this.#forget(instance)
    await this.#stored.put({ ...there, step: 'removing' })
    void this.#worker.once(instance)
  }

  async #forget(instance: number): Promise<void> {
    this.#stored.problems.delete(instance)
    await this.#stored.forget(instance)
    this.#worker.hurry(instance)
  }

  async #seek(view: InstanceView): Promise<void> {
    if (await this.#visits.discover(view)) this.#worker.wake(view.id)
  }

  #own(instance: number): readonly StoredLimit[] {
    return this.#limits.all().filter(limit => limit.instance === instance)
  }

  /** Whether a run depends on the watchdog, or has an order there that is outdated. */
  #runsNeed(instance: number): boolean {
    const { account, store } = this.#context
    const runs = Object.values(store.get().accounts[account]?.runs ?? {})
    return runs.some(
      run =>
        run.instance === instance &&
        ((run.watchdog && isGoing(run) && run.step !== 'waiting') || run.watchdogStale),
    )
  }

  #viewOf(instance: number): InstanceView | undefined {
    const { account, store } = this.#context
    return store.get().accounts[account]?.instances[instance]
  }

  #existing(instance: number): InstanceView {
    const view = this.#viewOf(instance)
    if (!view || !canGetIn(view)) throw new BerthError(notRunning(this.#visits.nameOf(instance)))
    return view
  }

  /**
   * Throws `gpu_load_unread`. An unreachable instance gets the watchdog anyway, which later reports if it can't read
   * the load.
   */
  async #needLoadOf(view: InstanceView): Promise<void> {
    const { clock } = this.#context.platform
    await withConnection(this.#context, view, connection => needLoad(connection, clock)).catch(error => {
      if (problemOf(error).code === 'gpu_load_unread') throw error
    })
  }
}

/** What the watchdog on the instance goes by until it is told otherwise. */
function thereBefore({ step, request, there }: StoredWatchdog): WatchdogRequest | undefined {
  return step === 'watching' ? request : there
}
