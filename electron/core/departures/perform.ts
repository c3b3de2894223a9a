import { dirname } from 'node:path/posix'
import { ServiceError } from '#service/service-error.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import { BerthError } from '#shared/problem.ts'
import type { Micros } from '#shared/spending/money.ts'
import type { HandedOver } from '#ssh/runs/hand-over.ts'
import { askBegan, readTakenOver, sidePlace, type TakenOver, takeOver } from '#ssh/runs/take-over.ts'
import type { AccountContext, AccountPoll } from '../account-context.ts'
import type { Transfers } from '../copies/perform.ts'
import { type Next, Worker } from '../engine/worker.ts'
import { pollsUntilGone } from '../instances/missing-instances.ts'
import type { Collection } from '../storage/collection.ts'
import {
  arrivalLost,
  broughtEntry,
  keptEntry,
  leftCause,
  lostDepartureAlert,
  notBroughtEntry,
} from './messages.ts'
import { type Departure, type Leave, openStoredDepartures } from './record.ts'
import { copyUntil, departureMove, isWorthKeeping, returnedDeparture, type Saved } from './step.ts'

/** The machine to which a run's files are brought. */
export interface Arrival {
  instance: number
  /** Its project's folder there, relative to the home folder. */
  folder: string
  /** The output of `sh -s` there, which gets a script. */
  ask(script: string): Promise<string>
  /**
   * Brings the results of a machine that still runs into the folder `side` there, over SSH. Undefined where that can't be.
   */
  handOver(from: Departure, side: string, signal: AbortSignal): Promise<HandedOver | undefined>
  /** The command had ended well on the machine that it left. Resolves once that is on disk. */
  hadEnded(): Promise<void>
}

/**
 * The machines that runs of an account left, such as those that were outbid: each stays, stopped, until the run has its newer
 * files on its next machine, or its time is over. Copy first, destroy after.
 */
export class Departures {
  readonly #context: AccountContext
  readonly #transfers: Pick<Transfers, 'copyToEnd'>
  readonly #stored: Collection<Departure, number>
  readonly #worker: Worker<number>
  /** Instances that certainly no longer exist. */
  readonly #gone = new Set<number>()

  static async open(context: AccountContext, transfers: Pick<Transfers, 'copyToEnd'>): Promise<Departures> {
    return new Departures(context, transfers, await openStoredDepartures(context))
  }

  constructor(
    context: AccountContext,
    transfers: Pick<Transfers, 'copyToEnd'>,
    stored: Collection<Departure, number>,
  ) {
    const { platform, quitting } = context
    this.#context = context
    this.#transfers = transfers
    this.#stored = stored
    this.#worker = new Worker({ clock: platform.clock, quitting, turn: instance => this.#turn(instance) })
  }

  /**
   * Takes over a machine that a run leaves: keeps it if only it has something, else destroys it. Resolves once that is on disk,
   * or seen. May be repeated.
   */
  async leave(run: string, name: string, leave: Leave): Promise<void> {
    const { account, activity, endings } = this.#context
    const { instance } = leave
    const view = this.#viewOf(instance)
    if (!isWorthKeeping(leave, view !== undefined)) {
      await endings.end(instance, 'destroy', leftCause({ ...leave, name }, 'destroy'))
      return
    }
    if (this.#stored.find(instance)) return
    const departure: Departure = { ...leave, run, name, missing: view ? undefined : true }
    await this.#stored.add(departure)
    if (view) activity.add(keptEntry(account, departure, view))
    this.#worker.hurry(instance)
  }

  /** What the machines that a run left have cost since then, in micro-dollars, by instance. */
  costOf(run: string): Record<string, Micros> {
    const own = this.#stored.all().filter(departure => departure.run === run)
    return Object.fromEntries(own.map(({ instance, cost = 0 }) => [instance, cost]))
  }

  /** The machines that a run left and that are still kept. */
  machinesOf(run: string): number[] {
    const kept = this.#stored.all().filter(departure => departure.run === run && !departure.missing)
    return kept.map(({ instance }) => instance)
  }

  /** Until when the present copy for a run may take, in epoch seconds; undefined where there is none to make. */
  copyEnds(run: string): number | undefined {
    const next = this.#toBring(run)
    return next && copyUntil(next, this.#context.now())
  }

  /**
   * Copies what a run's last machine has newer to the one on which it continues. Resolves with the training that
   * this has saved, and undefined where there was nothing to bring, or it could not be. Rejects where it is to be tried again.
   */
  async bring(run: string, to: Arrival, signal: AbortSignal): Promise<Saved | undefined> {
    const { account, activity, now } = this.#context
    const departure = this.#toBring(run)
    if (!departure) return undefined
    const { instance, seconds } = departure
    await this.#stored.intend(instance, { copyingSince: departure.copyingSince ?? now() })
    const taken = await this.#copied(this.#stored.get(instance), to, signal)
    // That says nothing of the old machine: its files are for the machine on which the run goes on.
    if ((taken === 'failed' || taken === 'refused') && !this.#runs(to.instance)) {
      await this.#stored.update(instance, { copyingSince: undefined })
      throw new BerthError(arrivalLost)
    }
    if (typeof taken === 'string') {
      await this.#stored.update(instance, { fate: taken })
      activity.add(notBroughtEntry(account, departure, taken, now()))
      return undefined
    }
    // Here too it is seen before the old machine may go.
    const isOver = taken.code === 0 && taken.left === 0
    if (isOver) await to.hadEnded()
    // What it trained after its newest file is lost in any case.
    const after = taken.files === 0 || taken.newest === 0 ? seconds : Math.max(0, taken.end - taken.newest)
    // What is left may be what the command goes by, as one that names its newest checkpoint.
    const saved = { seconds: isOver ? seconds : Math.max(0, seconds - after), isUpTo: taken.missed > 0 }
    // What may be half is nowhere else.
    await this.#stored.update(instance, { fate: taken.left > 0 ? 'torn' : 'brought' })
    activity.add(broughtEntry(account, departure, { ...taken, saved, isOver }, now()))
    this.#worker.hurry(instance)
    return saved
  }

  /** Ends the machines of runs that no longer need them: of all but these. */
  keepOnlyFor(runs: ReadonlySet<string>): void {
    for (const { instance, run, fate } of this.#stored.all()) {
      if (runs.has(run) || fate === 'needless' || fate === 'brought') continue
      void this.#stored.update(instance, { fate: 'needless' })
      this.#worker.hurry(instance)
    }
  }

  onPoll({ account: { instances }, pollsMissing }: AccountPoll): void {
    for (const { instance, before, cost = 0 } of this.#stored.all()) {
      const view = instances[instance]
      const departure = this.#stored.find(instance)
      const spent = view === undefined ? cost : Math.max(cost, view.spent.micros - before)
      if (view) this.#gone.delete(instance)
      else if (pollsMissing(instance) >= pollsUntilGone) this.#gone.add(instance)
      if (departure && view && departure.missing) this.#returned({ ...departure, cost: spent }, view)
      else if (departure && !departure.missing && this.#gone.has(instance))
        this.#stored.putSoon({ ...departure, missing: true })
      else if (departure && spent !== cost) this.#stored.putSoon({ ...departure, cost: spent })
      this.#worker.wake(instance)
    }
  }

  dueAt(after: number): number {
    return Math.min(...this.#stored.all().flatMap(({ until }) => (until > after ? [until] : [])))
  }

  async flush(): Promise<void> {
    await this.#worker.flush()
    await this.#stored.flush()
  }

  async #turn(instance: number): Promise<Next> {
    const { account, endings, notifications, now } = this.#context
    const departure = this.#stored.find(instance)
    if (!departure) return 'rest'
    const move = departureMove(departure, this.#gone.has(instance) ? 'gone' : this.#viewOf(instance), now())
    switch (move.do) {
      case 'wait':
        return 'rest'
      case 'stop':
        await endings.begin(instance, 'stop', leftCause(departure, 'stop'))
        return 'rest'
      case 'destroy':
        await endings.end(instance, 'destroy', leftCause(departure, 'destroy', move.isLost))
        if (move.isLost) notifications.tell(account, [lostDepartureAlert(account, departure)])
        await this.#stored.forget(instance)
        return 'rest'
      case 'forget':
        await this.#stored.forget(instance)
        return 'rest'
    }
  }

  #returned(departure: Departure, view: InstanceView): void {
    const { account, activity, now } = this.#context
    const kept = returnedDeparture(departure, view, now())
    this.#stored.putSoon(kept)
    if (kept.fate === undefined) activity.add(keptEntry(account, kept, view, true))
  }

  /** The machine whose files a run is to get, the last one that it left and that is there. */
  #toBring(run: string): Departure | undefined {
    const own = this.#stored.all().filter(departure => departure.run === run && !departure.missing)
    return own.findLast(({ fate }) => fate === undefined)
  }

  /** Copies a machine's files, and takes over the whole ones. Gives why not. */
  async #copied(
    departure: Departure,
    arrival: Arrival,
    signal: AbortSignal,
  ): Promise<(Exclude<TakenOver, 'torn'> & { way?: HandedOver }) | 'refused' | 'failed' | 'torn'> {
    const { platform, now } = this.#context
    const { folder: target, ask } = arrival
    const { instance: from, paths, whole, folder: origin } = departure
    const until = copyUntil(departure, now()) ?? 0
    if (until <= now()) return 'failed'
    const side = `.berth/left/${from}`
    const place = (await ask(sidePlace(side, paths.length))).trim()
    // Elsewhere the copy could replace the user's own files.
    if (!/^\/[^\n]*\/left\/\d+$/.test(place) || !place.endsWith(`/${from}`)) return 'failed'
    const late = new AbortController()
    const cancel = platform.clock.after((until - now()) * 1000, () => late.abort())
    const bounded = AbortSignal.any([signal, late.signal])
    let way: HandedOver | undefined
    try {
      if (this.#runs(from)) way = await arrival.handOver(departure, place, bounded)
      // The next machine has all of them already.
      if (way?.files === 0)
        return { found: 0, files: 0, left: way.unnamed ?? 0, missed: 0, newest: 0, end: 0, way }
      if (way === undefined && !(await this.#copiedByService(departure, arrival, { side, place }, bounded)))
        return 'failed'
    } catch (error) {
      if (late.signal.aborted && !signal.aborted) return 'failed'
      if (isRefusal(error)) return 'refused'
      throw error
    } finally {
      cancel()
    }
    const takes = { whole: whole === true, differ: way !== undefined, origin }
    const answer = readTakenOver(await ask(await takeOver(side, target, paths, takes)))
    // A copy that brought nothing saves nothing, whatever the service says. Over SSH it was links alone.
    const isEmpty = way === undefined && answer !== 'torn' && answer?.found === 0
    if (answer === undefined || isEmpty || (answer !== 'torn' && answer.end === 0)) return 'failed'
    if (answer === 'torn' || (answer.files === 0 && answer.left > 0)) return 'torn'
    return { ...answer, left: answer.left + (way?.unnamed ?? 0), way }
  }

  /**
   * Whether the service copied a machine's files into the folder `side` of another one, at the absolute path `place`. Where the
   * command never began, as while a snapshot was still put in place, its results are none.
   */
  async #copiedByService(
    { instance: from, folder = '', paths, program, since, name }: Departure,
    { instance: to, ask }: Arrival,
    { side, place }: { side: string; place: string },
    signal: AbortSignal,
  ): Promise<boolean> {
    const alive = `${dirname(dirname(folder))}/.berth/runs/${program}/alive`
    // One after another: the service tells of the latest copy alone.
    for (const [fromPath, toPath] of [
      [alive, `${place}/alive/`],
      ...paths.map((path, number) => [`${folder}/${path}`, `${place}/${number}/`] as const),
    ] as const) {
      const request = { from, fromPath, to, toPath }
      const failure = await this.#transfers.copyToEnd(request, since, signal, name)
      if (failure !== undefined) return false
      if (fromPath === alive && !(await ask(askBegan(side))).includes('began')) return false
    }
    return true
  }

  #runs(instance: number): boolean {
    return this.#viewOf(instance)?.state === 'running'
  }

  #viewOf(instance: number): InstanceView | undefined {
    const { account, store } = this.#context
    return store.get().accounts[account]?.instances[instance]
  }
}

/** Whether the service will not do it, however often it is asked. */
function isRefusal(error: unknown): boolean {
  if (error instanceof ServiceError) return !error.ambiguous && error.status >= 400 && error.status < 429
  return error instanceof BerthError && error.problem.code !== 'not_written'
}
