import * as v from 'valibot'
import type { WatchdogRequest } from '#shared/automation/watchdog.ts'
import type { AccountView } from '#shared/state.ts'
import type { AccountContext, AccountPoll, Automation } from '../account-context.ts'
import { pollsUntilGone } from '../instances/missing-instances.ts'
import { type Document, openDocument } from '../storage/json-file.ts'
import {
  type Acting,
  type ActingParts,
  createActing,
  isLongGone,
  limitBack,
  limitLost,
  type Transition,
  transitionsOf,
} from './act.ts'
import { type LimitAlerts, limitAlertsOf } from './alerts.ts'
import { createLimitChanges, type LimitChanges } from './changes.ts'
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
import { askUse, createUses, readsAhead } from './uses.ts'

/** The limits of one account, which stop or destroy for the user. */
export interface Limits extends LimitChanges, Required<Omit<Automation, 'secretOwners'>> {}

/** Dependencies of an account's limits, besides the account. */
interface LimitParts extends ActingParts {
  spending: Spending
  /** The watchdogs on the account's instances, which follow the limits. */
  watchdogs: {
    settle(instance: number): Promise<void>
    apply(instance: number): Promise<void>
    brought(instance: number, request: WatchdogRequest): Promise<void>
  }
}

export async function openLimits(context: AccountContext, parts: LimitParts): Promise<Limits> {
  const { limits, watchdogs } = parts
  const seenAt = await openDocument(context, 'limits-seen', v.nullable(v.number()), null)
  const limitAlerts = limitAlertsOf(context)
  const engine = new LimitEngine(context, { ...parts, limitAlerts, seenAt })
  const show = () => engine.show()
  return {
    ...createLimitChanges(context, {
      limits,
      limitAlerts,
      changed: instance => void watchdogs.settle(instance),
      apply: instance => watchdogs.apply(instance),
      cameWith: (instance, request) => watchdogs.brought(instance, request),
      known: () => engine.known(),
      look: instance => engine.look(instance),
      show,
    }),
    onPoll: poll => engine.onPoll(poll),
    show,
    resume: () => engine.resume(),
    dueAt: () => engine.dueAt(),
    async flush() {
      await Promise.all([limits.flush(), seenAt.flush()])
    },
  }
}

/** Dependencies for deciding about limits, besides the account. */
export interface EngineParts extends ActingParts {
  spending: Spending
  limitAlerts: LimitAlerts
  /** When Berth last polled the account, epoch seconds of its time. */
  seenAt: Document<number | null>
}

/** Decides what an account's limits do, at each poll and at due moments between polls, and acts. */
export class LimitEngine {
  readonly #context: AccountContext
  readonly #parts: EngineParts
  readonly #gpus: GpuLoads
  readonly #uses: ReturnType<typeof createUses>
  readonly #snapshots: Snapshots
  readonly #acting: Acting
  readonly #shown: ShownLimits
  #hasKey = false
  #askedAgain = false
  /** The moment up to which timers have checked, in addition to polls. */
  #checkedUpTo = Number.NEGATIVE_INFINITY
  #cancelTimer: (() => void) | undefined

  constructor(context: AccountContext, parts: EngineParts) {
    const { account, store, platform, quitting, now } = context
    const { clock } = platform
    const { limits, spending, limitAlerts, seenAt } = parts
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
    this.#acting = createActing(
      context,
      parts,
      limitAlerts,
      () => this.show(),
      () => this.known().facts,
    )
    this.#shown = createShownLimits({ store, account, limits, isActing: this.#acting.isActing })
    quitting.addEventListener('abort', () => this.#cancelTimer?.(), { once: true })
  }

  /** The facts known now. */
  known(): LimitInputs {
    const facts = this.#snapshots.known(this.#account() ?? nothing)
    return { facts, acted: this.#acting.acted() }
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
    const snapshot = { ...poll, acted: this.#acting.acted() }
    const idle = limits.all().filter(({ id }) => !this.#acting.busy.has(id))
    const decisions = limitActions(snapshot, idle, at)
    const noted = decisions.flatMap(({ kind, limit }) => (kind === 'note' ? limit : []))
    if (noted.length > 0) limits.putSoon(...noted)
    for (const decision of decisions) {
      if (decision.kind === 'act') void this.#acting.act(decision, at)
      else if (decision.kind === 'over') this.#acting.confirm(decision.limit)
    }
    const certain = decisions.filter(decision => !mayComeBack(decision, pollsMissing))
    const transitions = transitionsOf(certain, limits.all(), limitAlerts.scene(at))
    if (transitions.length > 0) void this.#apply(transitions)
    return !decisions.some(({ kind }) => kind === 'unsure')
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
