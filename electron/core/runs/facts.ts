import { reasonClause } from '#shared/automation/limit-words.ts'
import { isGoing } from '#shared/automation/run.ts'
import { hasTrait } from '#shared/instance/state-traits.ts'
import type { Problem } from '#shared/problem.ts'
import type { AccountContext, AccountPoll } from '../account-context.ts'
import type { Departures } from '../departures/perform.ts'
import { rentalOf } from '../instances/mark.ts'
import { pollsUntilGone } from '../instances/missing-instances.ts'
import { wasDueAsleep } from '../limits/limit-due.ts'
import { actsOnce, type StoredLimit, type StoredLimits } from '../limits/model.ts'
import { openAttempt } from '../renting/rental.ts'
import type { Rentals } from '../renting/rentals.ts'
import { isDeepEqual } from '../storage/store.ts'
import { limitOfWatchdog } from '../watchdogs/step.ts'
import { cameLate, seenMachine } from './changes.ts'
import type { RunSnapshot } from './decide.ts'
import { seenRunning } from './lost-time.ts'
import { stoppedMachine } from './messages.ts'
import { isOfProject, mostInAll, type Run, runCostBy } from './model.ts'
import type { RunNodes } from './nodes.ts'
import type { RunMachines } from './remote.ts'
import type { RunSweeps } from './rooms-above.ts'
import { uncounted, withMore } from './run-rental.ts'
import type { StoredRuns } from './stored-runs.ts'

/** What a run's facts come from, besides the account. */
export interface FactSources {
  runs: StoredRuns
  machines: Pick<RunMachines, 'viewOf'>
  nodes: Pick<RunNodes, 'of'>
  rentals: Pick<Rentals, 'find'>
  limits: Pick<StoredLimits, 'all'>
  departures: Pick<Departures, 'costOf'>
  sweeps: Pick<RunSweeps, 'isSpent'>
  /** Whether what left the account since then, in epoch seconds, allows for such a cost. */
  mayHaveCost(cost: number, since: number): boolean
}

/** What polls, rentals and limits tell of runs, from which their next moves follow. */
export class RunFacts {
  readonly #context: AccountContext
  readonly #sources: FactSources
  /** Instances that certainly no longer exist. */
  readonly #gone = new Set<number>()
  /** The instances of rentals that runs wait for. */
  readonly #rented = new Map<string, number>()
  /** Runs whose instance is being rented right now. */
  readonly #asking = new Set<string>()

  constructor(context: AccountContext, sources: FactSources) {
    this.#context = context
    this.#sources = sources
  }

  /** Whether an instance certainly no longer exists. */
  isGone(instance: number): boolean {
    return this.#gone.has(instance)
  }

  /** What a run waits for is being rented while `rent` is at it. */
  async whileAsking<Got>(id: string, rent: () => Promise<Got>): Promise<Got> {
    this.#asking.add(id)
    try {
      return await rent()
    } finally {
      this.#asking.delete(id)
    }
  }

  of(run: Run): RunSnapshot {
    const { machines, nodes } = this.#sources
    const { endings, now } = this.#context
    const awaited = this.#awaitedBy(run)
    const instance =
      run.instance ?? (run.project ? undefined : (this.#rented.get(run.id) ?? awaited?.instance))
    return {
      awaited,
      instance: instance !== undefined && this.isGone(instance) ? 'gone' : machines.viewOf(instance),
      limit: instance === undefined ? undefined : this.#limitOf(run, instance),
      isStoppedByUser: instance !== undefined && endings.isStoppedByUser(instance),
      nodes: run.node && nodes.of(run),
      isSpent: this.isSpent(run),
      now: now(),
    }
  }

  /**
   * Whether it, with the other nodes or the sweep that it belongs to, has cost all that it may, also by what left the
   * account: its files are destroyed then.
   */
  isSpent(run: Run): boolean {
    const { nodes, sweeps, mayHaveCost } = this.#sources
    if (run.sweep) return sweeps.isSpent(run.sweep.id)
    const now = this.#context.now()
    const [head = run, ...others] = nodes.of(run)
    const beside = others.reduce((sum, one) => sum + runCostBy(one, now), 0)
    const most = mostInAll(head, beside)
    const isReached = most !== undefined && runCostBy(head, now) + beside >= most
    return isReached && mayHaveCost(most, head.createdAt)
  }

  /** Why the command of a project ended that did not succeed, where its machine is being stopped. */
  stopOf(run: Run): Problem | undefined {
    const { endings } = this.#context
    const isStopping = run.instance !== undefined && endings.pending(run.instance) !== undefined
    return isStopping && isOfProject(run) ? stoppedMachine(run, this.of(run)) : undefined
  }

  /** Notes a poll's facts about a run. */
  observe(run: Run, poll: AccountPoll): void {
    const { runs, departures } = this.#sources
    const { account, records, pollsMissing } = poll
    if (run.step === 'waiting' && run.instance === undefined) {
      const found = rentedFor(run, records)
      if (found !== undefined) this.#rented.set(run.id, found)
    } else this.#rented.delete(run.id)
    const { id, instance } = run
    const leftCosts = { ...run.leftCosts, ...departures.costOf(id) }
    if (!isDeepEqual(leftCosts, run.leftCosts ?? {})) runs.putSoon({ ...run, leftCosts })
    if (instance !== undefined) {
      if (pollsMissing(instance) >= pollsUntilGone) this.#gone.add(instance)
      else this.#gone.delete(instance)
      this.#observeMachine({ ...run, leftCosts }, instance, account)
    }
    this.#countLate(run)
  }

  #observeMachine(run: Run, instance: number, { instances }: AccountPoll['account']): void {
    const { runs } = this.#sources
    const { id, step } = run
    const at = this.#context.now()
    const view = instances[instance]
    if (isOfProject(run) && (isGoing(run) || step === 'failed')) {
      const seen = seenMachine(run, view, { isGone: this.isGone(instance), at })
      const change = { ...seen, ...(view && seenRunning(run, view, at)) }
      if (view || Object.keys(seen).length > 0) runs.putSoon({ ...run, ...change })
    }
    if (!view) return
    if (run.project) {
      if (view.state === 'running' && run.starting) void runs.update(id, { starting: undefined })
      return
    }
    const isAtWork = isGoing(run) && step !== 'waiting' && step !== 'ending'
    if (isAtWork && !run.interrupted && hasTrait(view.state, 'startable'))
      void runs.update(id, { interrupted: true })
  }

  /** A machine that appeared after its rental had ended counts for its run, too. */
  #countLate(run: Run): void {
    const { runs, rentals } = this.#sources
    const rental = isGoing(run) || !run.project ? undefined : rentals.find(run.rental ?? '')
    if (!rental || rental.step === 'trying' || uncounted(run, rental) === 0) return
    void runs.update(run.id, current => ({ ...current, ...withMore(current, rental), ...cameLate(current) }))
  }

  #awaitedBy({ id, rental }: Run): RunSnapshot['awaited'] {
    if (this.#asking.has(id)) return { step: 'asking' }
    const found = rental === undefined ? undefined : this.#sources.rentals.find(rental)
    if (!found) return undefined
    const present = openAttempt(found)
    return {
      ...found,
      instance: found.step === 'ready' ? found.instance : undefined,
      unclear: present?.step === 'unclear' ? (present.candidates ?? []) : undefined,
    }
  }

  /** Why a limit has stopped the machine, or is about to be seen to, as a clause; undefined where none has. */
  #limitOf(run: Run, instance: number): string | undefined {
    const { account, store, now } = this.#context
    const all = this.#sources.limits.all()
    const own = all.filter(one => one.instance === instance)
    const view = this.#sources.machines.viewOf(instance)
    const { lastAction } = store.get().accounts[account]?.watchdogs[instance] ?? {}
    const ranAt = view?.history.findLast(({ state }) => state === 'running')?.at ?? run.createdAt
    const limit =
      actedOn(instance, all) ??
      (lastAction && lastAction.at >= ranAt ? limitOfWatchdog(own, lastAction) : undefined) ??
      own.find(
        one =>
          (!one.ended || one.ended === 'over') && wasDueAsleep(one, view, run.seenAt ?? run.createdAt, now()),
      )
    // The machines of a sweep have a moment each at which the whole would reach its limit.
    const isWhole = run.sweep && limit?.asleep && limit.when.kind === 'time'
    return isWhole ? 'the sweep has reached its limit' : limit && reasonClause(limit.when)
  }
}

function rentedFor({ rental }: Run, records: AccountPoll['records']): number | undefined {
  if (rental === undefined) return undefined
  return records.find(({ label, extra_env }) => rentalOf(label, extra_env ?? []) === rental)?.id
}

/** The limit that has stopped an instance, or is about to be seen to, unless one was set again since. */
function actedOn(instance: number, limits: readonly StoredLimit[]): StoredLimit | undefined {
  const acted = limits.findLast(limit => {
    const { targets, ended, begunAt } = limit
    return targets?.includes(instance) && (ended === 'done' || begunAt !== undefined || !actsOnce(limit))
  })
  if (acted?.begunAt !== undefined) return acted
  const actedAt = acted?.history.at(-1)?.at ?? 0
  const anew = limits.some(
    ({ instance: other, ended, when, setAt }) =>
      other === instance && !ended && (when.kind === acted?.when.kind || setAt >= actedAt),
  )
  return anew ? undefined : acted
}
