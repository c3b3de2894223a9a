import { ServiceError } from '#service/service-error.ts'
import type { EndingAction } from '#shared/automation/ending.ts'
import { instanceName } from '#shared/format/name.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import { BerthError } from '#shared/problem.ts'
import { lackedBy } from '../bridge/problems.ts'
import { type Next, Worker } from '../engine/worker.ts'
import { instanceView } from '../instances/instance-view.ts'
import { askForOne } from '../instances/poll-account.ts'
import {
  berthEnds,
  cancelled,
  endedLine,
  endingAlertId,
  finallyEndedAlert,
  notEndedYet,
  problemOfEnd,
  requestedAlready,
  returnedText,
  urgentAlert,
} from './messages.ts'
import {
  type Ending,
  type EndingCause,
  type EndingFollower,
  type EndingPoll,
  type EndingReason,
  type EndingsContext,
  endingReason,
  isOpen,
  openStoredEndings,
  type StoredEndings,
  wantedBy,
} from './record.ts'
import { RequestTimes } from './request-times.ts'
import {
  type EndingSoFar,
  hasReturned,
  isForgotten,
  isNoSuchInstance,
  isStoppedMeanwhile,
  isUrgentNow,
  pauseAfterRequest,
  sightOf,
} from './step.ts'
import { EndingWaiters, type Waiter } from './waiters.ts'

/**
 * Stops and destroys instances: the only place that does. It is on disk before it is requested, requested again with
 * pauses, and over only once a later fresh reading shows it, in the list and in the instance's own record. Answers of
 * the service count for nothing. Goes on after a kill.
 */
export class Endings {
  readonly #context: EndingsContext
  readonly #stored: StoredEndings
  readonly #worker: Worker<number>
  readonly #waiters = new EndingWaiters()
  readonly #times: RequestTimes
  readonly #followers = new Set<EndingFollower>()
  /** Instances whose end is seen, and is still to be told. */
  readonly #finishing = new Set<number>()
  /** Instances that seemed to have ended before Berth asked for it. */
  readonly #endedBefore = new Set<number>()
  /** Who wanted the last end of an instance, since Berth started. */
  readonly #lastCauses = new Map<number, EndingCause>()
  /** Readings, one after another. */
  #reading: Promise<void> = Promise.resolve()

  static async open(context: EndingsContext): Promise<Endings> {
    return new Endings(context, await openStoredEndings(context))
  }

  constructor(context: EndingsContext, stored: StoredEndings) {
    this.#context = context
    this.#stored = stored
    const { platform, quitting } = context
    this.#times = new RequestTimes(platform.clock)
    this.#worker = new Worker({ clock: platform.clock, quitting, turn: instance => this.#turn(instance) })
    quitting.addEventListener('abort', () => this.#waiters.settleAll(new BerthError(berthEnds)), {
      once: true,
    })
  }

  follow(follower: EndingFollower): void {
    this.#followers.add(follower)
  }

  /** The stop or destroy of an instance that no fresh reading shows yet. */
  pending(instance: number): Ending | undefined {
    const ending = this.#stored.find(instance)
    return ending && isOpen(ending) ? ending : undefined
  }

  /** The instances that are being stopped or destroyed. */
  allPending(): readonly number[] {
    const open = this.#stored.all().filter(isOpen)
    return [...open.map(({ instance }) => instance), ...this.#finishing]
  }

  /** Another key may be allowed to: asks again at once. */
  keyChanged(): void {
    for (const instance of this.allPending()) this.#worker.hurry(instance)
  }

  /** Who stops or destroys an instance, or did last, since Berth started. */
  causeOf(instance: number): EndingCause | undefined {
    return this.pending(instance)?.cause ?? this.#lastCauses.get(instance)
  }

  /** Whether the user stops an instance, or did last, since Berth started. */
  isStoppedByUser(instance: number): boolean {
    return this.causeOf(instance)?.kind === 'user'
  }

  /** Whether Berth destroys an instance, or has: its absence is no news. */
  isDestroyed(instance: number): boolean {
    return this.#stored.find(instance)?.action === 'destroy'
  }

  /**
   * Requests it, now and again until a fresh reading shows it, also after a restart. Resolves once it is on disk, or
   * could not be written: an instance is ended even then. A destroy takes the place of a stop.
   */
  async begin(instance: number, action: EndingAction, cause: EndingReason): Promise<void> {
    const before = this.pending(instance)
    if (before && (before.action === action || action === 'stop')) return this.#worker.wake(instance)
    this.#times.expect(instance)
    await this.#stored.put(this.#new(instance, action, cause))
    this.#worker.hurry(instance)
  }

  /**
   * The same; resolves once a fresh reading shows it, with whether Berth had to request it. Rejects where a request
   * failed, or after many without effect: Berth goes on all the same, and another call waits again.
   */
  async end(instance: number, action: EndingAction, cause: EndingReason): Promise<boolean> {
    const seen = this.#waiters.whenSeen(instance)
    // It may be rejected before it is returned.
    seen.catch(() => undefined)
    await this.begin(instance, action, cause)
    return seen
  }

  /**
   * For the user: resolves after the first request, with whether a fresh reading shows it already. Rejects with the
   * failure of that request. Where the key lacks the permission, it is given up.
   */
  async request(instance: number, action: EndingAction): Promise<boolean> {
    const seen = this.#waiters.whenSeen(instance).then(() => true)
    const round = this.#waiters.whenRound(instance).then(() => false)
    // A later failure is told by State.
    seen.catch(() => undefined)
    const isRepeated = this.pending(instance) !== undefined
    await this.begin(instance, action, { kind: 'user' })
    // The user need not wait for the next request.
    if (isRepeated) this.#worker.hurry(instance)
    return Promise.race([seen, round])
  }

  /** An instance that is gone is to end if it is listed again. */
  async expect(instance: number, action: EndingAction): Promise<void> {
    const known = this.#stored.find(instance)
    if (known && !known.isStopped) return
    const endedAt = this.#context.now()
    await this.#stored.put({ ...this.#new(instance, action, { kind: 'berth' }), endedAt })
  }

  /**
   * Starts an instance in the place of its stop, which is taken back on disk first: a Berth that is killed meanwhile must not
   * stop it again. Rejects as `start` does, and where it was refused the stop goes on; with `not_written` nothing is started.
   */
  async startInstead<Got>(instance: number, start: () => Promise<Got>): Promise<Got> {
    this.#lastCauses.delete(instance)
    const stop = this.#stored.find(instance)
    if (!stop || stop.action === 'destroy') return start()
    await this.#takeBack(instance)
    return start().catch(async error => {
      const mayHaveStarted = error instanceof ServiceError && error.ambiguous
      if (isOpen(stop) && !mayHaveStarted) await this.begin(instance, 'stop', endingReason(stop))
      throw error
    })
  }

  /**
   * Ends what a limit wants, after a request that failed, since its user wants otherwise. Throws `ending_requested` where one is
   * under way or was taken.
   */
  async takeBackOf(limit: string): Promise<void> {
    const own = this.#stored.all().filter(one => isOpen(one) && wantedBy(one) === limit)
    const asked = own.find(
      ({ instance, isTaken, requests, problem }) =>
        isTaken || this.#times.isExpected(instance) || (requests > 0 && !problem),
    )
    if (asked) throw new BerthError(requestedAlready(asked))
    for (const { instance } of own) await this.#takeBack(instance)
  }

  async #takeBack(instance: number): Promise<void> {
    await this.#stored.remove(instance)
    await this.#forget(instance)
    this.#waiters.settle(instance, new BerthError(cancelled))
  }

  onPoll(poll: EndingPoll): void {
    if (this.#stored.all().length === 0) return
    this.#reading = this.#reading.then(() => this.#read(poll))
  }

  /** Resolves once the last poll has been read. */
  whenRead(): Promise<void> {
    return this.#reading
  }

  show(): void {
    this.#stored.show()
  }

  async flush(): Promise<void> {
    await this.#worker.flush()
    await this.#reading
    await this.#stored.flush()
  }

  #new(instance: number, action: EndingAction, cause: EndingCause): Ending {
    const view = this.#viewOf(instance)
    const name = view ? instanceName(view) : (this.#stored.find(instance)?.name ?? `#${instance}`)
    return { instance, action, cause, name, since: this.#context.now(), requests: 0 }
  }

  /** Requests it, and polls for a reading that shows it. */
  async #turn(instance: number): Promise<Next> {
    const { quitting, poll } = this.#context
    const before = this.pending(instance)
    if (!before) return 'rest'
    this.#soFar(before)
    // Someone else may have ended it: a fresh reading says so. The user's is requested even then: readings may be wrong.
    const isOthers = before.cause.kind !== 'user' && this.#looksOver(before)
    if (this.#times.isFirst(instance) && isOthers) {
      this.#endedBefore.add(instance)
      this.#times.answered(instance)
    } else if (!(await this.#ask(instance)) || quitting.aborted) return 'rest'
    await poll()
    await this.#reading
    this.#waiters.roundOver(instance)
    const open = this.pending(instance)
    if (!open || quitting.aborted) return 'rest'
    const soFar = this.#soFar(open)
    if (isUrgentNow(soFar)) await this.#alert(open)
    return { after: pauseAfterRequest(open, soFar) }
  }

  #soFar(ending: Ending): EndingSoFar {
    const view = this.#viewOf(ending.instance)
    const costPerHour = view?.costUnknown ? undefined : (view?.costPerHour ?? 0)
    return { ...ending, lasted: this.#times.lasted(ending), costPerHour }
  }

  /** Sends one request. The answer is recorded as a problem or as none, and decides nothing. */
  async #ask(instance: number): Promise<Ending | undefined> {
    const { client, quitting } = this.#context
    const before = this.pending(instance)
    if (!before) return undefined
    const { instances } = client()
    this.#times.expect(instance)
    this.#endedBefore.delete(instance)
    let failure: unknown
    try {
      if (isStoppedMeanwhile(before, this.#viewOf(instance)?.state))
        await instances.stop(instance, { signal: quitting }).catch(() => undefined)
      await instances[before.action](instance, { signal: quitting })
    } catch (error) {
      if (!isNoSuchInstance(error)) failure = error
    }
    if (quitting.aborted) return undefined
    this.#times.answered(instance)
    const problem = failure === undefined ? undefined : problemOfEnd(failure)
    const after = await this.#stored.update(instance, ending =>
      ending.action === before.action ? { ...ending, requests: ending.requests + 1, problem } : ending,
    )
    if (!after || !problem) return after
    this.#waiters.settle(instance, new BerthError(problem))
    if (after.cause.kind === 'user' && lackedBy(failure, 'instance_write')) {
      await this.#forget(instance)
      return undefined
    }
    for (const follower of this.#followers) follower.failed(after, problem, pauseAfterRequest(after) / 1000)
    return after
  }

  async #alert(ending: Ending): Promise<void> {
    const { account, notifications } = this.#context
    const { instance } = ending
    await this.#stored.update(instance, { isUrgent: true })
    const { costPerHour = 0 } = this.#viewOf(instance) ?? {}
    notifications.tell(account, [urgentAlert(account, ending, costPerHour)])
    this.#waiters.settle(instance, new BerthError(notEndedYet(ending)))
  }

  async #read(poll: EndingPoll): Promise<void> {
    const seen: Ending[] = []
    for (const ending of this.#stored.all()) {
      if (this.#context.quitting.aborted) return
      const { instance } = ending
      const state = poll.account.instances[instance]?.state
      if (isForgotten(ending, state, poll.at)) await this.#forget(instance)
      else if (hasReturned(ending, state)) await this.#resume(ending)
      else if (isOpen(ending) && (await this.#isSeen(ending, poll))) seen.push(ending)
    }
    if (seen.length > 0) await this.#finish(seen, poll)
  }

  async #isSeen(ending: Ending, { account, gone, begunAt }: EndingPoll): Promise<boolean> {
    const { instance, isTaken = false } = ending
    if (!this.#times.isShownBy(instance, begunAt)) return false
    const state = account.instances[instance]?.state
    const sight = sightOf(ending, { state, isGone: gone.has(instance) })
    if (sight === 'seen' && (state === undefined || (await this.#saysIt(ending)))) return true
    if ((sight === 'taken') !== isTaken) await this.#stored.update(instance, { isTaken: sight === 'taken' })
    this.#worker.wake(instance)
    return false
  }

  /** Whether the instance's own record agrees that it is stopped. */
  async #saysIt(ending: Ending): Promise<boolean> {
    const { instance } = ending
    const { account, store, client, quitting, now } = this.#context
    const { instances = {}, capabilities } = store.get().accounts[account] ?? {}
    try {
      const record = await askForOne(client(), instance, quitting)
      if (typeof record === 'string') return false
      const view = instanceView(record, instances[instance], now(), undefined, undefined, capabilities)
      return sightOf(ending, { state: view.state, isGone: false }) === 'seen'
    } catch {
      // There is no key any more.
      return false
    }
  }

  async #resume(ending: Ending): Promise<void> {
    const { account, activity, now } = this.#context
    const { instance } = ending
    activity.add({ account, instance, kind: 'berth', text: returnedText(ending) })
    const over = { endedAt: undefined, isStopped: undefined, isUrgent: undefined, problem: undefined }
    await this.#stored.update(instance, { ...over, requests: 0, since: now() })
    this.#times.expect(instance)
    this.#worker.hurry(instance)
  }

  /** Stored first, then told: after a kill, a message is missed rather than repeated. */
  async #finish(seen: readonly Ending[], { account: { instances }, at }: EndingPoll): Promise<void> {
    const { account, activity, notifications, onDestroyed } = this.#context
    const finished: { ending: Ending; waiters: Iterable<Waiter> }[] = []
    for (const ending of seen) {
      const { instance, cause, action, isUrgent } = ending
      // While it was read, another one may have taken its place: that one is not over.
      const current = this.#stored.find(instance)
      if (current?.action !== action || current.since !== ending.since) continue
      this.#finishing.add(instance)
      finished.push({ ending, waiters: this.#waiters.take(instance) })
      const isGone = instances[instance] === undefined
      this.#lastCauses.set(instance, cause)
      const over = { endedAt: at, problem: undefined, isUrgent: undefined }
      await this.#stored.put({ ...ending, ...over, isStopped: isGone ? undefined : true })
      this.#times.forget(instance)
      if (!isGone) this.#worker.hurry(instance)
      if (isGone && action === 'destroy') onDestroyed(instance)
      const isOthers = this.#endedBefore.delete(instance)
      const line = endedLine(ending, isOthers)
      if (line) activity.add({ account, instance, ...line })
      // A limit tells of its own.
      if (isUrgent && cause.kind === 'limit') notifications.withdraw(endingAlertId(account, instance))
      else if (isUrgent) notifications.tell(account, [finallyEndedAlert(account, ending)])
    }
    const byLimits = finished.flatMap(({ ending }) => (ending.cause.kind === 'limit' ? ending : []))
    if (byLimits.length > 0) await Promise.all([...this.#followers].map(follower => follower.ended(byLimits)))
    for (const { ending, waiters } of finished) {
      this.#finishing.delete(ending.instance)
      for (const settle of waiters) settle(ending.requests > 0)
    }
  }

  async #forget(instance: number): Promise<void> {
    const { account, notifications } = this.#context
    if (this.#stored.find(instance)?.isUrgent) notifications.withdraw(endingAlertId(account, instance))
    this.#times.forget(instance)
    await this.#stored.forget(instance)
    this.#worker.hurry(instance)
  }

  #looksOver(ending: Ending): boolean {
    const state = this.#viewOf(ending.instance)?.state
    return sightOf(ending, { state, isGone: state === undefined }) === 'seen'
  }

  #viewOf(instance: number): InstanceView | undefined {
    const { account, store } = this.#context
    return store.get().accounts[account]?.instances[instance]
  }
}
