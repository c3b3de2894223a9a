import { reasonClause } from '#shared/automation/limit-words.ts'
import { isGoing } from '#shared/automation/run.ts'
import { accountNow } from '#shared/derived.ts'
import { hasTrait } from '#shared/instance/state-traits.ts'
import type { Problem } from '#shared/problem.ts'
import type { AccountContext, AccountPoll } from '../account-context.ts'
import { problemOf } from '../bridge/problems.ts'
import type { Departures } from '../departures/perform.ts'
import type { Next, Worker } from '../engine/worker.ts'
import { rentalOf } from '../instances/mark.ts'
import { pollsUntilGone } from '../instances/missing-instances.ts'
import { wasDueAsleep } from '../limits/limit-due.ts'
import { actsOnce, type StoredLimit, type StoredLimits } from '../limits/model.ts'
import { openAttempt } from '../renting/rental.ts'
import type { Rentals } from '../renting/rentals.ts'
import { isDeepEqual } from '../storage/store.ts'
import { limitOfWatchdog } from '../watchdogs/step.ts'
import { cameLate, seenMachine } from './changes.ts'
import {
  checkpointDue,
  failsAfter,
  nextRunMove,
  pauseAfter,
  type RunMove,
  type RunSnapshot,
} from './decide.ts'
import { seenRunning } from './lost-time.ts'
import { stoppedMachine } from './messages.ts'
import { isOfProject, mostInAll, type Run, runCostBy } from './model.ts'
import { leavesNetwork } from './node-decide.ts'
import type { RunNodes } from './nodes.ts'
import type { RunMachines } from './remote.ts'
import { uncounted, withMore } from './run-rental.ts'
import { seekingDue } from './seeking.ts'
import type { Moves } from './steps.ts'
import type { StoredRuns } from './stored-runs.ts'
import { Dropped } from './transfer-results.ts'
import { givesUpAfter, waitOf } from './waiting.ts'

export type RunWork = ReturnType<typeof createRunWork>

/** Its dependencies, besides the account. */
interface WorkParts {
  runs: StoredRuns
  moves: Moves
  worker: Pick<Worker<string>, 'wake' | 'hurry'>
  checkpoints: Pick<Worker<string>, 'wake'>
  machines: Pick<RunMachines, 'viewOf'>
  rentals: Pick<Rentals, 'find'>
  limits: Pick<StoredLimits, 'all'>
  departures: Pick<Departures, 'costOf' | 'keepOnlyFor'>
  nodes: Pick<RunNodes, 'of' | 'isCutOff'>
  /** Whether a sweep has cost all that it may, the disks of its stopped machines included. */
  isSweepSpent(sweep: string): boolean
  /** Whether what left the account since then, in epoch seconds, allows for such a cost. */
  mayHaveCost(cost: number, since: number): boolean
  /** Instances that certainly no longer exist, as polls tell. */
  gone: Set<number>
  /** Runs whose instance is being rented right now. */
  asking: ReadonlySet<string>
}

/** Moves runs from step to step. */
export function createRunWork(context: AccountContext, parts: WorkParts) {
  const { account, store, ending, now } = context
  const { clock } = context.platform
  const { runs, moves, worker, checkpoints, machines, rentals, limits, nodes, gone, asking, departures } =
    parts
  /** The instances of rentals that runs wait for. */
  const rented = new Map<string, number>()
  /** Each run's last move, while it is performed or retried. */
  const present = new Map<string, RunMove['do']>()
  /** The failures in a row of a run's moves, and of these the last with the same problem. */
  const failures = new Map<string, typeof noFailure>()
  const isOnline = () => store.get().accounts[account]?.connection.status === 'online'

  function snapshotOf(run: Run): RunSnapshot {
    const awaited = awaitedBy(run)
    const instance = run.instance ?? (run.project ? undefined : (rented.get(run.id) ?? awaited?.instance))
    return {
      awaited,
      instance: instance !== undefined && gone.has(instance) ? 'gone' : machines.viewOf(instance),
      limit: instance === undefined ? undefined : limitOf(run, instance),
      isStoppedByUser: instance !== undefined && context.endings.isStoppedByUser(instance),
      nodes: run.node && nodes.of(run),
      isSpent: isSpent(run),
      now: now(),
    }
  }

  /**
   * Whether it, with the other nodes or the sweep that it belongs to, has cost all that it may, also by what left the
   * account: its files are destroyed then.
   */
  function isSpent(run: Run): boolean {
    if (run.sweep) return parts.isSweepSpent(run.sweep.id)
    const [head = run, ...others] = nodes.of(run)
    const beside = others.reduce((sum, one) => sum + runCostBy(one, now()), 0)
    const most = mostInAll(head, beside)
    const isReached = most !== undefined && runCostBy(head, now()) + beside >= most
    return isReached && parts.mayHaveCost(most, head.createdAt)
  }

  function awaitedBy({ id, rental }: Run): RunSnapshot['awaited'] {
    if (asking.has(id)) return { step: 'asking' }
    const found = rental === undefined ? undefined : rentals.find(rental)
    if (!found) return undefined
    const present = openAttempt(found)
    return {
      ...found,
      instance: found.step === 'ready' ? found.instance : undefined,
      unclear: present?.step === 'unclear' ? (present.candidates ?? []) : undefined,
    }
  }

  /** Why a limit has stopped the machine, or is about to be seen to, as a clause; undefined where none has. */
  function limitOf(run: Run, instance: number): string | undefined {
    const own = limits.all().filter(one => one.instance === instance)
    const view = machines.viewOf(instance)
    const { lastAction } = store.get().accounts[account]?.watchdogs[instance] ?? {}
    const ranAt = view?.history.findLast(({ state }) => state === 'running')?.at ?? run.createdAt
    const limit =
      actedOn(instance, limits.all()) ??
      (lastAction && lastAction.at >= ranAt ? limitOfWatchdog(own, lastAction) : undefined) ??
      own.find(
        one =>
          (!one.ended || one.ended === 'over') && wasDueAsleep(one, view, run.seenAt ?? run.createdAt, now()),
      )
    // The machines of a sweep have a moment each at which the whole would reach its limit.
    const isWhole = run.sweep && limit?.asleep && limit.when.kind === 'time'
    return isWhole ? 'the sweep has reached its limit' : limit && reasonClause(limit.when)
  }

  const moveOf = (run: Run) => nextRunMove(run, snapshotOf(run))

  /** The account's time in so many milliseconds; undefined for never. */
  function inAccountTime(milliseconds: number | undefined): number | undefined {
    const { rate = 1 } = store.get().accounts[account]?.clock ?? {}
    return milliseconds === undefined ? undefined : now() + (milliseconds / 1000) * rate
  }

  /** Shows what a run waits for. */
  function noteWait(run: Run, move: RunMove['do']): void {
    const { connection, rentals = {}, clock: time } = store.get().accounts[account] ?? {}
    const { problem, retryAt } = connection?.status === 'offline' ? connection : {}
    const outage = problem && { problem, nextTryAt: retryAt && time ? accountNow(time, retryAt) : undefined }
    runs.setWait(
      run.id,
      waitOf(run, move, { snapshot: snapshotOf(run), rental: rentals[run.rental ?? ''], outage }),
    )
  }

  async function turn(id: string): Promise<Next> {
    present.delete(id)
    // A request is carried out once it is on disk. If it can't be written, it is refused.
    await runs.flush()
    const run = runs.find(id)
    if (ending.aborted || !run) return 'rest'
    const move = moveOf(run)
    try {
      noteWait(run, move.do)
      await moves.cleanUp(run)
      if (move.do === 'wait' && !isGoing(run)) {
        failures.delete(id)
        return 'rest'
      }
      present.set(id, move.do)
      const waits = await moves.perform(run, move, () => isToFollow(run))
      failures.delete(id)
      // Until then the reason for waiting is shown.
      if (!waits || move.do === 'wait') runs.setProblem(id, undefined)
      if (!waits) wakeOthers(id)
      return waits ? 'rest' : 'again'
    } catch (error) {
      const after = runs.find(id)
      if (ending.aborted) return 'rest'
      if (!after || after.step !== run.step || error instanceof Dropped) return 'again'
      return retry(after, move, problemOf(error))
    }
  }

  /** After a move that failed: when it is tried again, if it isn't given up. */
  async function retry(run: Run, move: RunMove, problem: Problem): Promise<Next> {
    const { id } = run
    const { fails, text: before, same: earlier } = failures.get(id) ?? noFailure
    const text = `${problem.code} ${problem.message}`
    const same = text === before ? earlier + 1 : 1
    failures.set(id, { fails: failsAfter(fails, isOnline()), text, same })
    const failed = { run, move: move.do, fails, same, isOnline: isOnline(), clock: clock.now() / 1000 }
    const pause = pauseAfter(problem, failed)
    if (pause === undefined || (run.node && isOnline() && (await nodes.isCutOff(run, problem, fails)))) {
      await moves.giveUp(run, move, problem)
      return 'again'
    }
    const next = {
      nextTryAt: inAccountTime(pause),
      givesUpAt: inAccountTime(givesUpAfter(problem, failed)),
    }
    await moves.hindered(run, move, problem, fails, next)
    return { after: pause }
  }

  /** Other nodes may wait for this node's step. */
  function wakeOthers(id: string): void {
    const run = runs.find(id)
    if (run?.node) for (const other of nodes.of(run)) if (other.id !== id) worker.wake(other.id)
  }

  function isToFollow({ id, step }: Run): boolean {
    const run = runs.find(id)
    return !ending.aborted && run?.step === step && moveOf(run).do === 'program'
  }

  async function checkpoint(id: string): Promise<Next> {
    const run = runs.find(id)
    const due = run && checkpointDue(run)
    if (!run || due === undefined || due > now()) {
      runs.setCheckpointProblem(id, undefined)
      return 'rest'
    }
    // Where it can't be entered, the next poll tries again.
    return (await moves.checkpoint(run)) ? 'again' : 'rest'
  }

  function rentedFor({ rental }: Run, records: AccountPoll['records']): number | undefined {
    if (rental === undefined) return undefined
    return records.find(({ label, extra_env }) => rentalOf(label, extra_env ?? []) === rental)?.id
  }

  /** Notes a poll's facts about a run. */
  function observe(run: Run, { account: { instances }, records, pollsMissing }: AccountPoll): void {
    if (run.step === 'waiting' && run.instance === undefined) {
      const found = rentedFor(run, records)
      if (found !== undefined) rented.set(run.id, found)
    } else rented.delete(run.id)
    const { id, instance, step } = run
    const costs = departures.costOf(id)
    const leftCosts = { ...run.leftCosts, ...costs }
    if (!isDeepEqual(leftCosts, run.leftCosts ?? {})) runs.putSoon({ ...run, leftCosts })
    if (instance === undefined) return
    if (pollsMissing(instance) >= pollsUntilGone) gone.add(instance)
    else gone.delete(instance)
    const view = instances[instance]
    if (isOfProject(run) && (isGoing(run) || step === 'failed')) {
      const seen = seenMachine(run, view, { isGone: gone.has(instance), at: now() })
      const change = { leftCosts, ...seen, ...(view && seenRunning(run, view, now())) }
      if (view || Object.keys(seen).length > 0) runs.putSoon({ ...run, ...change })
    }
    if (!view) return
    if (run.project) {
      if (view.state === 'running' && run.starting) void runs.update(id, { starting: undefined })
    } else if (
      isGoing(run) &&
      step !== 'waiting' &&
      step !== 'ending' &&
      !run.interrupted &&
      hasTrait(view.state, 'startable')
    )
      void runs.update(id, { interrupted: true })
  }

  function hasWork(run: Run): boolean {
    const { step, leaving, withdrawing } = run
    const isKeptTooLong = keptDue(run) <= now() || (step === 'failed' && !!run.instance && isSpent(run))
    if (isGoing(run) || isKeptTooLong || leaving || withdrawing) return true
    return run.node?.network !== undefined && leavesNetwork(nodes.of(run), instance => gone.has(instance))
  }

  /** A machine that appeared after its rental had ended counts for its run, too. */
  function countLate(run: Run): void {
    const rental = isGoing(run) || !run.project ? undefined : rentals.find(run.rental ?? '')
    if (!rental || rental.step === 'trying' || uncounted(run, rental) === 0) return
    void runs.update(run.id, current => ({ ...current, ...withMore(current, rental), ...cameLate(current) }))
  }

  /** Continues runs when their rentals change, without waiting for a poll. */
  const ignore = store.onChange((after, before) => {
    const [now, then] = [after.accounts[account], before.accounts[account]]
    if (now?.rentals === then?.rentals && now?.connection === then?.connection) return
    for (const run of runs.all()) {
      const { id, step, withdrawing, rental = '' } = run
      if (isGoing(run)) noteWait(run, present.get(id) ?? moveOf(run).do)
      if ((step === 'waiting' || withdrawing) && now?.rentals[rental]?.step !== then?.rentals[rental]?.step)
        worker.wake(id)
    }
  })
  ending.addEventListener('abort', ignore, { once: true })

  return {
    /** Performs a run's next move. */
    turn,
    /** Why the command of a project ended that did not succeed, where its machine is being stopped. */
    stopOf(run: Run): Problem | undefined {
      const isStopping = run.instance !== undefined && context.endings.pending(run.instance) !== undefined
      return isStopping && isOfProject(run) ? stoppedMachine(run, snapshotOf(run)) : undefined
    },
    /** Downloads a run's due checkpoint, in parallel with its other moves. */
    checkpoint,
    noteCheckpoint(id: string, problem: Problem): undefined {
      if (runs.find(id)?.step === 'running') runs.setCheckpointProblem(id, problem)
    },
    onPoll(poll: AccountPoll): void {
      for (const run of runs.all()) {
        observe(run, poll)
        countLate(run)
      }
      const isOver = ({ step }: Run) => step === 'done' || step === 'cancelled'
      const needing = runs.all().filter(run => !isOver(run) && !(run.project && isSpent(run)))
      departures.keepOnlyFor(new Set(needing.map(({ id }) => id)))
      runs.show()
      for (const run of runs.all()) {
        if (!hasWork(run)) continue
        // Its current move is obsolete, so it does not wait for the next try.
        const doing = present.get(run.id)
        if (doing !== undefined && doing !== moveOf(run).do) worker.hurry(run.id)
        else worker.wake(run.id)
        if ((checkpointDue(run) ?? Number.POSITIVE_INFINITY) <= now()) checkpoints.wake(run.id)
      }
    },
    dueAt(after: number): number {
      const moments = runs.all().map(run => checkpointDue(run) ?? seekingDue(run) ?? keptDue(run))
      return Math.min(...moments.filter(moment => moment > after))
    },
  }
}

const noFailure = { fails: 0, text: '', same: 0 }

/** When the user is reminded of the machine of a run that is over, or it is destroyed; Infinity for never. */
function keptDue({ step, keptUntil, remindAt }: Run): number {
  if (step !== 'failed' && step !== 'done') return Number.POSITIVE_INFINITY
  return Math.min(keptUntil ?? Number.POSITIVE_INFINITY, remindAt ?? Number.POSITIVE_INFINITY)
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
