import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { isGoing } from '#shared/automation/run.ts'
import { latestRuns } from '#shared/automation/sweep.ts'
import { canGetIn, spentBy } from '#shared/derived.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import { BerthError } from '#shared/problem.ts'
import type { Setting } from '#shared/project/sweep.ts'
import type { Micros } from '#shared/spending/money.ts'
import type { Spender } from '#shared/spending/spender.ts'
import type { AccountContext, AccountPoll } from '../account-context.ts'
import { type FailedTurn, type Next, Worker } from '../engine/worker.ts'
import { sweepAlertId } from '../limits/alerts.ts'
import { isInterrupted, type Run } from '../runs/model.ts'
import { openRuns, type RunNeeds } from '../runs/open.ts'
import { uncounted } from '../runs/run-rental.ts'
import type { Runs } from '../runs/service.ts'
import { openStoredRuns } from '../runs/stored-runs.ts'
import { createSweepLimits, type SweepLimits } from './limits.ts'
import {
  notRented,
  stillGoing,
  sweepAtLimit,
  sweepEndedAlert,
  sweepGoing,
  sweepHaltedAlert,
} from './messages.ts'
import {
  isSweepBusy,
  openStoredSweeps,
  type Sweep,
  sweepCost,
  sweepDeadline,
  sweepLimits,
  sweepRate,
} from './record.ts'
import { nextSweepMove, type SweepMove, type SweepSnapshot } from './step.ts'
import { SweepTerms } from './terms.ts'

export interface NewSweep {
  name: string
  project: Sweep['project']
  settings: readonly Setting[]
  atOnce: number
  keep?: number
}

/** Seconds until a machine is looked for again where none was to be had. */
const shortPause = 300

/** Seconds for which a machine waits for the next run of its sweep, as Berth may end between two. */
const betweenRuns = 900

/** Opens the runs of an account with its sweeps, which need each other. */
export async function openRunsAndSweeps(
  context: AccountContext,
  parts: Omit<RunNeeds, 'runs' | 'sweeps'>,
): Promise<{ runs: Runs; sweeps: Sweeps }> {
  const stored = await openStoredSweeps(context, () => storedRuns.all())
  const storedRuns = await openStoredRuns(context, sweep => stored.find(sweep)?.project)
  const terms = new SweepTerms(context, stored, storedRuns, parts.rentals, parts.mayHaveCost)
  const runs = await openRuns(context, { ...parts, runs: storedRuns, sweeps: terms })
  return { runs, sweeps: new Sweeps(context, { ...parts, stored, terms, runs }) }
}

interface SweepParts extends Pick<RunNeeds, 'rentals' | 'limits' | 'watchdogs' | 'departures'> {
  stored: Awaited<ReturnType<typeof openStoredSweeps>>
  terms: SweepTerms
  runs: Runs
}

/** Sweeps: runs of a project with several settings, which share machines and limits. */
export class Sweeps {
  readonly #context: AccountContext
  readonly #parts: SweepParts
  readonly #worker: Worker<string>
  readonly #limits: SweepLimits

  constructor(context: AccountContext, parts: SweepParts) {
    const { account, quitting, platform, store } = context
    this.#context = context
    this.#parts = parts
    this.#limits = createSweepLimits(context, { ...parts, waiting: parts.runs.waiting })
    this.#worker = new Worker({
      clock: platform.clock,
      quitting,
      turn: id => this.#turn(id),
      hindered: (id, failed) => this.#hindered(id, failed),
    })
    // Goes on once a run has changed.
    const ignore = store.onChange((after, before) => {
      if (after.accounts[account]?.runs === before.accounts[account]?.runs) return
      for (const { id, step } of parts.stored.all()) if (step === 'going') this.#worker.wake(id)
    })
    quitting.addEventListener('abort', ignore, { once: true })
  }

  /** Who pays for a sweep; undefined: you. */
  payer(sweep: string): Spender | undefined {
    return this.#parts.stored.find(sweep)?.project.by
  }

  /** What the machines of a sweep may cost together; undefined where that is not limited, and for what is no sweep. */
  mostOf(id: string): Micros | undefined {
    const sweep = this.#parts.stored.find(id)
    if (!sweep) return undefined
    const { most } = sweepLimits(sweep)
    return most === undefined ? undefined : sweep.since.micros + most
  }

  /** Resolves with its id once it is on disk; its runs then start automatically. */
  async start({ name, project, settings, atOnce, keep }: NewSweep): Promise<string> {
    const { stored, runs } = this.#parts
    const { waiting } = runs
    const id = `q${this.#context.newId()}`
    const at = this.#context.now()
    const reused = waiting.allFor(project.id, project.spec, project.by).slice(0, atOnce)
    const before = reused.reduce((sum, { instance }) => {
      const view = this.#viewOf(instance)
      return sum + (view ? spentBy(view, at) : 0)
    }, 0)
    // First, so that none of its runs begins without them.
    for (const { instance } of reused) await waiting.give(instance, id)
    await stored.add({
      id,
      name,
      project,
      settings: settings.map(setting => ({ ...setting })),
      attempts: settings.map(() => 0),
      atOnce,
      keep,
      results: `sweeps/${folderTime(at)}-${id.slice(1, 5)}`,
      step: 'going',
      createdAt: at,
      since: { at, micros: 0, failed: 0 },
      machines: {},
      // Their earlier cost does not belong to the sweep.
      attemptCost: -before,
    })
    this.#worker.wake(id)
    return id
  }

  async stop(id: string): Promise<void> {
    const { account, activity, notifications, now } = this.#context
    const { stored, runs } = this.#parts
    const sweep = stored.get(id)
    if (sweep.step === 'going' || sweep.step === 'halted')
      await stored.intend(id, { step: 'stopped', problem: undefined, short: undefined, endedAt: now() })
    activity.add({ account, kind: 'user', text: `Stopped ${sweep.name}` })
    notifications.withdraw(sweepAlertId(account, id))
    for (const run of this.#parts.terms.runsOf(sweep)) if (isGoing(run)) await runs.cancel(run.id)
    this.#worker.hurry(id)
  }

  /** Starts what has not ended, with fresh limits. Throws `sweep_going` or `project_busy`. */
  goOn(id: string): Promise<void> {
    return this.#goOn(id, isInterrupted)
  }

  /** The same, and runs those again that failed. */
  retry(id: string, index?: number): Promise<void> {
    return this.#goOn(
      id,
      ({ step, sweep }) =>
        (step === 'failed' || step === 'cancelled') && (index === undefined || sweep?.index === index),
    )
  }

  /** Throws `still_running`. */
  async dismiss(id: string): Promise<void> {
    const { stored, runs } = this.#parts
    const sweep = stored.get(id)
    const own = this.#parts.terms.runsOf(sweep)
    const kept = own.filter(run => run.step === 'failed' && this.#viewOf(run.instance) !== undefined)
    if (isSweepBusy(sweep, own) || kept.length > 0) throw new BerthError(stillGoing(kept.length))
    for (const run of own) await runs.remove(run)
    await stored.remove(id)
  }

  onPoll(poll: AccountPoll): void {
    const { stored, runs, terms, departures } = this.#parts
    for (const sweep of stored.all()) {
      const hasLeft = terms.runsOf(sweep).some(({ id }) => departures.machinesOf(id).length > 0)
      const isOver =
        sweep.step !== 'going' && sweepRate(sweep) === 0 && !hasLeft && !isSweepBusy(sweep, runs.all())
      if (!isOver) this.#limits.observe(sweep, poll)
    }
    stored.show()
    for (const { id } of stored.all()) this.#worker.wake(id)
  }

  dueAt(after: number): number {
    const moments = this.#parts.stored
      .all()
      .filter(({ step }) => step === 'going')
      .flatMap(sweep => [
        sweepDeadline(sweep, this.#parts.terms.runsOf(sweep), this.#context.now()) ??
          Number.POSITIVE_INFINITY,
        sweep.short?.nextTryAt ?? Number.POSITIVE_INFINITY,
      ])
    return Math.min(...moments.filter(moment => moment > after))
  }

  show(): void {
    this.#parts.stored.show()
  }

  async flush(): Promise<void> {
    await this.#worker.flush()
    await this.#parts.stored.flush()
  }

  async #turn(id: string): Promise<Next> {
    const sweep = this.#parts.stored.find(id)
    const move = sweep && nextSweepMove(this.#snapshotOf(sweep))
    if (!move || move.do === 'wait') return 'rest'
    await this.#perform(sweep, move)
    return 'again'
  }

  async #hindered(id: string, { problem, pause }: FailedTurn): Promise<undefined> {
    const at = this.#context.now()
    await this.#parts.stored.update(id, sweep => ({
      ...sweep,
      short: { problem, since: sweep.short?.since ?? at, nextTryAt: at + pause / 1000 },
    }))
  }

  #snapshotOf(sweep: Sweep): SweepSnapshot {
    const { rentals, terms } = this.#parts
    const { waiting } = this.#parts.runs
    const runs = terms.runsOf(sweep)
    return {
      sweep,
      runs,
      waiting: waiting
        .all()
        .filter(there => there.sweep === sweep.id && !there.ending)
        .filter(
          ({ instance, by }) => !runs.some(run => isGoing(run) && run.instance === instance && run.id !== by),
        )
        .filter(({ by }) => !runs.some(run => run.id === by && isGoing(run)))
        .map(({ instance }) => {
          const view = this.#viewOf(instance)
          return { instance, isReady: view !== undefined && canGetIn(view) }
        }),
      isRenting: runs.some(
        ({ step, rental, instance }) =>
          step === 'waiting' &&
          instance === undefined &&
          rentals.find(rental ?? '')?.attempts.at(-1)?.instance === undefined,
      ),
      now: this.#context.now(),
    }
  }

  async #perform(sweep: Sweep, move: Exclude<SweepMove, { do: 'wait' }>): Promise<void> {
    const { account, notifications, now } = this.#context
    const { stored, runs } = this.#parts
    const { waiting } = runs
    const { id } = sweep
    switch (move.do) {
      case 'run': {
        const { index, on } = move
        await runs.startSwept(runIdOf(sweep, index), newRunOf(sweep, index), on)
        if (on !== undefined) await waiting.take(on)
        if (sweep.short) await stored.update(id, { short: undefined })
        return
      }
      case 'requeue':
        return this.#requeue(sweep, move.run)
      case 'release':
        return waiting.end(move.instance)
      case 'halt': {
        const { problem, endsRuns } = move
        const going = () => (endsRuns ? this.#parts.terms.runsOf(sweep).filter(isGoing) : [])
        await Promise.all(going().map(({ instance = 0 }) => runs.beforeStop(instance)))
        // Its user may have stopped it meanwhile.
        if (stored.find(id)?.step !== 'going') return
        const costThen = sweepCost(stored.get(id), this.#parts.terms.runsOf(sweep), now())
        await stored.intend(id, { step: 'halted', problem, short: undefined, costThen })
        for (const run of going()) await runs.halt(run.id, sweepAtLimit)
        notifications.tell(account, [sweepHaltedAlert(account, sweep, problem)])
        return
      }
      case 'end': {
        await stored.intend(id, { step: 'over', endedAt: now(), short: undefined })
        const own = this.#parts.terms.runsOf(sweep)
        const done = latestRuns(sweep, own).filter(run => run?.step === 'done').length
        const cost = sweepCost(sweep, own, now())
        notifications.tell(account, [sweepEndedAlert(account, sweep, { done, cost })])
      }
    }
  }

  /** The run of that place has not begun, and is tried again in a while, or on a machine that is done before. */
  async #requeue(sweep: Sweep, run: Run): Promise<void> {
    const { stored, rentals, runs } = this.#parts
    const rental = rentals.find(run.rental ?? '')
    const at = this.#context.now()
    const since = sweep.short?.since ?? at
    const short = { problem: run.problem ?? notRented, since, nextTryAt: at + shortPause }
    await stored.update(sweep.id, current => ({
      ...current,
      attemptCost: current.attemptCost + (run.attemptCost ?? 0) + (rental ? uncounted(run, rental) : 0),
      short,
    }))
    await runs.remove(run)
  }

  /** Continues after its user's request, with those of its runs again that `again` names. */
  async #goOn(id: string, again: (run: Run) => boolean): Promise<void> {
    const { account, activity, notifications, now } = this.#context
    const { stored, runs } = this.#parts
    const sweep = stored.get(id)
    if (sweep.step === 'going') throw new BerthError(sweepGoing)
    runs.refuseIfBusy(sweep.project.id)
    const own = this.#parts.terms.runsOf(sweep)
    const latest = latestRuns(sweep, own)
    const isKept = (run: Run) => run.step === 'failed' && this.#viewOf(run.instance) !== undefined
    const chosen = latest.filter(run => run !== undefined).filter(again)
    const afresh = chosen.filter(run => !isKept(run)).flatMap(({ sweep: place }) => place?.index ?? [])
    const failed = latest.filter(
      run => run?.step === 'failed' && !afresh.includes(run.sweep?.index ?? -1),
    ).length
    // Its limits count anew before those that have machines continue, and it ends only once all of them have.
    await stored.intend(id, { since: { at: now(), micros: sweepCost(sweep, own, now()), failed } })
    activity.add({ account, kind: 'user', text: `Continued ${sweep.name}` })
    notifications.withdraw(sweepAlertId(account, id))
    for (const run of chosen) if (isKept(run)) await runs.retry(run.id, undefined)
    await stored.intend(id, current => ({
      ...current,
      step: 'going',
      problem: undefined,
      short: undefined,
      endedAt: undefined,
      attempts: current.attempts.map((attempt, index) => (afresh.includes(index) ? attempt + 1 : attempt)),
    }))
    this.#worker.hurry(id)
  }

  #viewOf(instance: number | undefined): InstanceView | undefined {
    const { account, store } = this.#context
    return instance === undefined ? undefined : store.get().accounts[account]?.instances[instance]
  }
}

function newRunOf(
  { id, name, project, settings, attempts, results, keep = betweenRuns }: Sweep,
  index: number,
) {
  const { spec, folder } = project
  const number = String(index + 1).padStart(String(settings.length).length, '0')
  return {
    name: `${name} ${number}`,
    command: spec.run,
    project,
    sweep: { id, index, attempt: attempts[index] ?? 0 },
    into: join(folder, results, number),
    afterwards: spec.after ?? ('destroy' as const),
    keep,
    watchdog: false,
    stuckAfter: 0,
    afterwardsIfStuck: false,
  }
}

/** The run's id, the same whenever it is started, so that no kill makes two of it. */
function runIdOf({ id, attempts }: Sweep, index: number): string {
  const hash = createHash('sha256')
    .update(`${id} ${index} ${attempts[index] ?? 0}`)
    .digest('hex')
  return `x${hash.slice(0, 16)}`
}

/** `20261127-2212`, in universal time. */
function folderTime(at: number): string {
  return new Date(at * 1000).toISOString().slice(0, 16).replaceAll(/[-:]/g, '').replace('T', '-')
}
