import type { LimitAction } from '#shared/automation/limit.ts'
import type { Problem } from '#shared/problem.ts'
import type { AccountView } from '#shared/state.ts'
import type { AccountContext, AccountPoll } from '../account-context.ts'
import { problemOf } from '../bridge/problems.ts'
import { type Ending, wantedBy } from '../endings/record.ts'
import { pollsUntilGone } from '../instances/missing-instances.ts'
import type { Document } from '../storage/json-file.ts'
import { type LimitAlerts, limitDoneAlert, limitFailedAlert } from './alerts.ts'
import { type LimitDecision, limitActions } from './decide.ts'
import {
  createSnapshots,
  type LimitInputs,
  type LimitSnapshot,
  type Snapshots,
  type Spending,
} from './facts.ts'
import { askGpuMetrics, createGpuLoads, type GpuLoads } from './gpu-loads.ts'
import { createShownLimits, type ShownLimits } from './limit-view.ts'
import { actsOnce, type StoredLimit, type StoredLimits, withTargets } from './model.ts'
import type { LimitTarget } from './targets.ts'
import {
  isLongGone,
  limitAfterActing,
  limitAfterFailure,
  limitBack,
  limitLost,
  limitOver,
  limitPauseAfter,
  type Transition,
  transitionsOf,
} from './transitions.ts'
import { askUse, createUses, readsAhead } from './uses.ts'

/**
 * Called before a limit stops or destroys: returns the permitted action, which is to stop if data would be lost
 * otherwise. Undefined keeps the instance for now, and the limit tries again later.
 */
export type BeforeLimit = (target: LimitTarget) => Promise<LimitAction | undefined>

/** What limits need, besides the account. */
export interface EngineParts {
  limits: StoredLimits
  limitAlerts: LimitAlerts
  spending: Spending
  /** When Berth last polled the account, epoch seconds of its time. */
  seenAt: Document<number | null>
  /** Whether a rental with retries tries an instance. */
  wasAttempted: (instance: number) => boolean
  /** Awaited before anything is stopped or destroyed. */
  before: BeforeLimit
}

type Act = Extract<LimitDecision, { kind: 'act' }>

/** Decides what an account's limits do, at each poll and at due moments between polls, and acts. */
export class LimitEngine {
  readonly #context: AccountContext
  readonly #parts: EngineParts
  readonly #gpus: GpuLoads
  readonly #uses: ReturnType<typeof createUses>
  readonly #snapshots: Snapshots
  /** Limits that are about to act. */
  readonly #busy = new Set<string>()
  readonly #shown: ShownLimits
  #hasKey = false
  #askedAgain = false
  /** The moment up to which timers have checked, in addition to polls. */
  #checkedUpTo = Number.NEGATIVE_INFINITY
  #cancelTimer: (() => void) | undefined

  constructor(context: AccountContext, parts: EngineParts) {
    const { account, store, platform, endings, quitting, now } = context
    const { clock } = platform
    const { limits, spending, seenAt } = parts
    this.#context = context
    this.#parts = parts
    this.#gpus = createGpuLoads({
      clock,
      question: askGpuMetrics(context),
      now,
      quitting,
      heard: () => this.show(),
    })
    this.#uses = createUses({ clock, question: askUse(context), now, quitting, heard: () => this.show() })
    this.#snapshots = createSnapshots({
      clock,
      spending,
      loads: this.#gpus.heard,
      uses: this.#uses.heard,
      interval: () => store.get().settings.pollInterval,
      seenAt: seenAt.get() ?? undefined,
      now,
    })
    this.#shown = createShownLimits({ store, account, limits, isActing: id => this.#isActing(id) })
    endings.follow({
      ended: all => this.#ended(all),
      failed: (one, problem, pause) => void this.#failed(wantedBy(one), problem, pause),
    })
    quitting.addEventListener('abort', () => this.#cancelTimer?.(), { once: true })
  }

  /** The facts known now. */
  known(): LimitInputs {
    const facts = this.#snapshots.known(this.#account() ?? nothing)
    return { facts, acted: this.#acted() }
  }

  /** Reads a running instance's load over SSH, where nothing is known of it. */
  async look(instance: number | undefined): Promise<void> {
    const target = this.#account()?.instances[instance ?? '']
    const isKnown = target?.gpuLoad !== undefined || this.known().facts.loads.has(instance ?? 0)
    if (target?.state === 'running' && !isKnown) await this.#gpus.look(target)
  }

  /** The next moment at which something is due, epoch seconds of the account's time; Infinity if nothing is. */
  dueAt(): number {
    return this.#shown.next() ?? Number.POSITIVE_INFINITY
  }

  /** There is a key: from here on moments are waited for. */
  resume(): void {
    this.#hasKey = true
    this.show()
  }

  /** Writes changes into State, and sets the timer for the next moment. */
  show(): void {
    const view = this.#account()
    if (!view || this.#context.quitting.aborted) return
    const at = this.#context.now()
    const decidedUpTo = Math.max(this.#snapshots.lastAt() ?? at, this.#checkedUpTo)
    this.#shown.show(this.#snapshots.known(view), at, Math.min(at, decidedUpTo))
    this.#wait(this.#shown.next(), view.clock.rate)
  }

  onPoll({ account, unconfirmed, pollsMissing, at }: AccountPoll): void {
    const { instances, clock } = account
    this.#gpus.addReported(instances, at)
    const snapshot = { ...this.#snapshots.fresh(account, at), unconfirmed }
    this.#bringBack(instances, unconfirmed, at)
    if (this.#decide(snapshot, at, pollsMissing)) this.#decided(at, snapshot.gap)
    else this.#askAgain()
    this.#gpus.ask(this.#shown.unknownLoads(account), clock.rate)
    this.#uses.ask(this.#shown.nearlyIdle(account, at, readsAhead(clock.rate)), clock.rate)
    this.show()
  }

  #account() {
    return this.#context.store.get().accounts[this.#context.account]
  }

  /** Decides and acts; false where a second poll has to confirm the time. */
  #decide(
    poll: Omit<LimitSnapshot, 'acted'>,
    at: number,
    pollsMissing: AccountPoll['pollsMissing'] = () => 0,
  ): boolean {
    const { limits, limitAlerts } = this.#parts
    const snapshot = { ...poll, acted: this.#acted() }
    const idle = limits.all().filter(({ id }) => !this.#busy.has(id))
    const decisions = limitActions(snapshot, idle, at)
    const noted = decisions.flatMap(({ kind, limit }) => (kind === 'note' ? limit : []))
    if (noted.length > 0) limits.putSoon(...noted)
    for (const decision of decisions) {
      if (decision.kind === 'act') void this.#act(decision, at)
      else if (decision.kind === 'over') this.#confirm(decision.limit)
    }
    const certain = decisions.filter(decision => !mayComeBack(decision, pollsMissing))
    const transitions = transitionsOf(certain, limits.all(), limitAlerts.scene(at))
    if (transitions.length > 0) void this.#apply(transitions)
    return !decisions.some(({ kind }) => kind === 'unsure')
  }

  /** Instances that are being stopped or destroyed. */
  #acted(): ReadonlySet<number> {
    return new Set(this.#context.endings.allPending())
  }

  /** Whether a limit acts, and no fresh reading shows the result yet. */
  #isActing(id: string): boolean {
    const { endings } = this.#context
    if (this.#busy.has(id)) return true
    return endings.allPending().some(instance => wantedBy(endings.pending(instance)) === id)
  }

  /** Acts: first stored, then requested until it is seen, then reported. */
  async #act(decision: Act, at: number): Promise<void> {
    const { quitting, poll } = this.#context
    const { limit, targets } = decision
    this.#busy.add(limit.id)
    try {
      await this.#parts.limits.put(withTargets({ ...limit, begunAt: at }, targets))
      this.show()
      const problem = await this.#request(decision)
      if (problem && !quitting.aborted)
        await this.#failed(limit.id, problem, limitPauseAfter((limit.failures ?? 0) + 1))
    } finally {
      this.#busy.delete(limit.id)
      this.show()
    }
    void poll()
  }

  /** Has each target stopped or destroyed. Resolves with why one is spared for now. */
  async #request({ limit: { id }, dueAt, late, targets }: Act): Promise<Problem | undefined> {
    const { endings, quitting } = this.#context
    const { limits, wasAttempted, before } = this.#parts
    let problem: Problem | undefined
    // Not while a rental tries it, which drops its own instance once a limit has recorded that it acts on it.
    for (const target of targets.filter(({ instance }) => !wasAttempted(instance))) {
      try {
        const action = await before(target)
        if (action === undefined) {
          problem ??= notSaved
          continue
        }
        // The limit may be removed or snoozed while data is saved first.
        if (quitting.aborted || limits.find(id)?.begunAt === undefined) break
        const lateSince = late ? dueAt : undefined
        await endings.begin(target.instance, action, { kind: 'limit', limit: id, lateSince })
      } catch (error) {
        problem ??= problemOf(error)
      }
    }
    return problem
  }

  /** The list shows nothing left to act on: it is over once the instance's own record agrees, else it acts. */
  #confirm({ id, instance, action }: StoredLimit): void {
    if (instance !== undefined)
      void this.#context.endings.begin(instance, action, { kind: 'limit', limit: id })
  }

  async #failed(id: string | undefined, problem: Problem, pause: number): Promise<void> {
    const { limits, limitAlerts } = this.#parts
    const limit = id === undefined ? undefined : limits.find(id)
    if (!limit || limit.begunAt === undefined) return
    const at = this.#context.now()
    await limits.put(limitAfterFailure(limit, problem, at, pause))
    this.show()
    if (!limit.failures) limitAlerts.alert(limitFailedAlert(limitAlerts.scene(at), limit, problem))
  }

  async #ended(all: readonly Ending[]): Promise<void> {
    for (const id of new Set(all.map(wantedBy)))
      if (id !== undefined)
        await this.#endedBy(
          id,
          all.filter(one => wantedBy(one) === id),
        )
  }

  async #endedBy(id: string, all: readonly Ending[]): Promise<void> {
    const { limits, limitAlerts } = this.#parts
    const limit = limits.find(id)
    const at = this.#context.now()
    // It is still pending for other instances.
    const isLast = !this.#isActing(id)
    if (!limit || limit.ended) return
    // After a kill, it may have been requested before.
    const own = limit.begunAt === undefined ? all.filter(({ requests }) => requests > 0) : all
    const done = own.map(({ instance, action, name }) => ({ instance, action, name }))
    if (done.length === 0) {
      if (actsOnce(limit)) await limits.put(limitOver(limit, at, 'Ended: it was already stopped'))
      // Nothing is left that its warning could tell of.
      limitAlerts.withdraw(id)
      this.show()
      return
    }
    await limits.put(limitAfterActing(limit, done, this.known().facts, at, isLast))
    this.show()
    const late = all.map(({ cause }) => (cause.kind === 'limit' ? cause.lateSince : undefined)).find(Boolean)
    if (this.#context.quitting.aborted) return
    const present = limitAlerts.scene(at)
    const told = limitDoneAlert(present, limit, done, late === undefined ? undefined : { dueAt: late })
    // Of a sweep, its own end is alerted.
    if (present.sweepOf(limit.instance)) limitAlerts.note('berth', told.title, told.body, limit.instance)
    else limitAlerts.alert(told)
  }

  /** Limits end with an instance that is gone; where it is listed again, they hold again. */
  #bringBack(instances: AccountView['instances'], unconfirmed: ReadonlySet<number>, at: number): void {
    const { limits } = this.#parts
    const changed = limits.all().flatMap(limit => {
      if (limit.ended !== 'gone') return []
      const isBack = (id: number) => instances[id] !== undefined && !unconfirmed.has(id)
      return isBack(limit.instance ?? 0)
        ? limitBack(limit, at)
        : isLongGone(limit, at)
          ? limitLost(limit)
          : []
    })
    if (changed.length > 0) void limits.put(...changed)
  }

  /** Stored first, then alerted: after a kill, an alert is missed rather than repeated. */
  async #apply(transitions: readonly Transition[]): Promise<void> {
    const { limits, limitAlerts } = this.#parts
    const { sweepOf } = limitAlerts.scene(this.#context.now())
    for (const { limit, alert } of transitions) {
      if (!alert) limitAlerts.withdraw(limit.id)
      // It has moved away, and the others of its sweep with it.
      const sweep = alert || limit.ended || limit.warnedAt !== undefined ? undefined : sweepOf(limit.instance)
      if (sweep) limitAlerts.withdrawSweep(sweep.id)
    }
    await limits.put(...transitions.map(({ limit }) => limit))
    this.show()
    for (const { alert } of transitions)
      if (alert && !this.#context.quitting.aborted) limitAlerts.alert(alert)
  }

  #decided(at: number, gap: number): void {
    const { limits, seenAt } = this.#parts
    this.#snapshots.decided(at)
    this.#askedAgain = false
    if (limits.all().length > 0 && Math.abs(at - (seenAt.get() ?? 0)) > gap / 4) seenAt.writeSoon(() => at)
  }

  #askAgain(): void {
    if (this.#askedAgain) return
    this.#askedAgain = true
    void this.#context.poll()
  }

  /** A timer for the next moment, since polls may be paused, or rare after failures. */
  #wait(moment: number | undefined, rate: number): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    if (moment === undefined || !this.#hasKey) return
    const { platform, now } = this.#context
    const until = ((moment - now()) * 1000) / rate + afterMoment
    const milliseconds = Math.min(Math.max(until, 0), longestWait)
    this.#cancelTimer = platform.clock.after(milliseconds, () => void this.#checkAt(moment))
  }

  async #checkAt(moment: number): Promise<void> {
    const { now, poll, quitting } = this.#context
    const unseen = () => (this.#snapshots.lastAt() ?? Number.NEGATIVE_INFINITY) < moment
    if (now() >= moment && unseen()) await poll()
    const view = this.#account()
    if (!view || quitting.aborted) return
    // So that the same moment is not checked again.
    this.#checkedUpTo = Math.max(this.#checkedUpTo, Math.min(moment, now()))
    const stale = this.#snapshots.stale(view)
    // If it is much later, this computer slept: the next poll finds the missed limits.
    if (now() >= moment && unseen() && now() - moment <= stale.gap) this.#decide(stale, now())
    this.show()
  }
}

const notSaved: Problem = {
  code: 'not_saved',
  message: 'Its files are not saved yet, so the instance is kept.',
}

/** A single poll without its instance may be an error of the service, so the next one is awaited. */
function mayComeBack({ kind, limit }: LimitDecision, pollsMissing: AccountPoll['pollsMissing']): boolean {
  if (kind !== 'gone' || limit.begunAt !== undefined) return false
  return pollsMissing(limit.instance ?? 0) < pollsUntilGone
}

/** Stands for an account that is being removed. */
const nothing = { instances: {}, spendPerHour: 0, clock: { serverAt: 0, localAt: 0, rate: 1 } }

/** Milliseconds: from a limit's moment until the check for a poll, and the longest timer. */
const afterMoment = 1500
const longestWait = 600_000
