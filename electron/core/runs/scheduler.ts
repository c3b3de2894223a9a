import { isGoing } from '#shared/automation/run.ts'
import { accountNow } from '#shared/derived.ts'
import type { Problem } from '#shared/problem.ts'
import type { State } from '#shared/state.ts'
import type { AccountContext, AccountPoll } from '../account-context.ts'
import { problemOf } from '../bridge/problems.ts'
import type { Departures } from '../departures/perform.ts'
import { type Next, Worker } from '../engine/worker.ts'
import { checkpointDue, failsAfter, nextRunMove, pauseAfter, type RunMove } from './decide.ts'
import type { RunFacts } from './facts.ts'
import type { Run } from './model.ts'
import { leavesNetwork } from './node-decide.ts'
import type { RunNodes } from './nodes.ts'
import { Dropped, type RunFolders } from './run-folders.ts'
import { seekingDue } from './seeking.ts'
import type { RunSteps } from './steps.ts'
import type { StoredRuns } from './stored-runs.ts'
import { givesUpAfter, waitOf } from './waiting.ts'

/** What moves runs, besides the account. */
export interface SchedulerParts {
  runs: StoredRuns
  facts: RunFacts
  steps: Pick<RunSteps, 'perform' | 'checkpoint' | 'cleanUp' | 'giveUp' | 'hindered'>
  nodes: Pick<RunNodes, 'of' | 'isCutOff'>
  departures: Pick<Departures, 'keepOnlyFor'>
  folders: Pick<RunFolders, 'dropLost'>
}

const noFailure = { fails: 0, text: '', same: 0 }

/** Moves runs from step to step. */
export class RunScheduler {
  readonly #context: AccountContext
  readonly #parts: SchedulerParts
  readonly #worker: Worker<string>
  /** Downloads due checkpoints, in parallel with the other moves. */
  readonly #checkpoints: Worker<string>
  /** Each run's last move, while it is performed or retried. */
  readonly #present = new Map<string, RunMove['do']>()
  /** The failures in a row of a run's moves, and of these the last with the same problem. */
  readonly #failures = new Map<string, typeof noFailure>()

  constructor(context: AccountContext, parts: SchedulerParts) {
    const { quitting, store } = context
    const { clock } = context.platform
    this.#context = context
    this.#parts = parts
    this.#worker = new Worker({ clock, quitting, turn: id => this.#turn(id) })
    this.#checkpoints = new Worker({
      clock,
      quitting,
      turn: id => this.#checkpoint(id),
      hindered: (id, { problem }) => this.#noteCheckpoint(id, problem),
    })
    const ignore = store.onChange((after, before) => this.#onChange(after, before))
    quitting.addEventListener('abort', ignore, { once: true })
  }

  /** A run's next turn comes now, or after the present one. */
  wake(id: string): void {
    this.#worker.wake(id)
  }

  /** The same, and cuts a pause short. */
  hurry(id: string): void {
    this.#worker.hurry(id)
  }

  onPoll(poll: AccountPoll): void {
    const { runs, facts, departures, folders } = this.#parts
    for (const run of runs.all()) facts.observe(run, poll)
    folders.dropLost()
    const isOver = ({ step }: Run) => step === 'done' || step === 'cancelled'
    const needing = runs.all().filter(run => !isOver(run) && !(run.project && facts.isSpent(run)))
    departures.keepOnlyFor(new Set(needing.map(({ id }) => id)))
    runs.show()
    for (const run of runs.all()) {
      if (!this.#hasWork(run)) continue
      // Its current move is obsolete, so it does not wait for the next try.
      const doing = this.#present.get(run.id)
      if (doing !== undefined && doing !== this.#moveOf(run).do) this.hurry(run.id)
      else this.wake(run.id)
      if ((checkpointDue(run) ?? Number.POSITIVE_INFINITY) <= this.#context.now())
        this.#checkpoints.wake(run.id)
    }
  }

  dueAt(after: number): number {
    const moments = this.#parts.runs.all().map(run => checkpointDue(run) ?? seekingDue(run) ?? keptDue(run))
    return Math.min(...moments.filter(moment => moment > after))
  }

  /** Resolves once all turns have ended. */
  async flush(): Promise<void> {
    await Promise.all([this.#worker.flush(), this.#checkpoints.flush()])
  }

  #moveOf(run: Run): RunMove {
    return nextRunMove(run, this.#parts.facts.of(run))
  }

  /** Performs a run's next move. */
  async #turn(id: string): Promise<Next> {
    const { quitting } = this.#context
    const { runs, steps } = this.#parts
    this.#present.delete(id)
    // A request is carried out once it is on disk. If it can't be written, it is refused.
    await runs.flush()
    const run = runs.find(id)
    if (quitting.aborted || !run) return 'rest'
    const move = this.#moveOf(run)
    try {
      this.#noteWait(run, move.do)
      await steps.cleanUp(run)
      if (move.do === 'wait' && !isGoing(run)) {
        this.#failures.delete(id)
        return 'rest'
      }
      this.#present.set(id, move.do)
      const waits = await steps.perform(run, move, {
        goesOn: () => this.#isToFollow(run),
        rest: milliseconds => this.#worker.pause(id, milliseconds),
      })
      this.#failures.delete(id)
      // Until then the reason for waiting is shown.
      if (!waits || move.do === 'wait') runs.setProblem(id, undefined)
      if (!waits) this.#wakeOthers(id)
      return waits ? 'rest' : 'again'
    } catch (error) {
      const after = runs.find(id)
      if (quitting.aborted) return 'rest'
      if (!after || after.step !== run.step || error instanceof Dropped) return 'again'
      return this.#retry(after, move, problemOf(error))
    }
  }

  /** After a move that failed: when it is tried again, if it isn't given up. */
  async #retry(run: Run, move: RunMove, problem: Problem): Promise<Next> {
    const { steps, nodes } = this.#parts
    const { id } = run
    const { fails, text: before, same: earlier } = this.#failures.get(id) ?? noFailure
    const text = `${problem.code} ${problem.message}`
    const same = text === before ? earlier + 1 : 1
    const isOnline = () => this.#account()?.connection.status === 'online'
    this.#failures.set(id, { fails: failsAfter(fails, isOnline()), text, same })
    const clock = this.#context.platform.clock.now() / 1000
    const failed = { run, move: move.do, fails, same, isOnline: isOnline(), clock }
    const pause = pauseAfter(problem, failed)
    if (pause === undefined || (run.node && isOnline() && (await nodes.isCutOff(run, problem, fails)))) {
      await steps.giveUp(run, move, problem)
      return 'again'
    }
    const next = {
      nextTryAt: this.#inAccountTime(pause),
      givesUpAt: this.#inAccountTime(givesUpAfter(problem, failed)),
    }
    await steps.hindered(run, move, problem, fails, next)
    return { after: pause }
  }

  /** Other nodes may wait for this node's step. */
  #wakeOthers(id: string): void {
    const { runs, nodes } = this.#parts
    const run = runs.find(id)
    if (run?.node) for (const other of nodes.of(run)) if (other.id !== id) this.wake(other.id)
  }

  #isToFollow({ id, step }: Run): boolean {
    const run = this.#parts.runs.find(id)
    return !this.#context.quitting.aborted && run?.step === step && this.#moveOf(run).do === 'program'
  }

  async #checkpoint(id: string): Promise<Next> {
    const { runs, steps } = this.#parts
    const run = runs.find(id)
    const due = run && checkpointDue(run)
    if (!run || due === undefined || due > this.#context.now()) {
      runs.setCheckpointProblem(id, undefined)
      return 'rest'
    }
    // Where it can't be entered, or its machine has ended meanwhile, the next poll tries again.
    const isFetched = await steps.checkpoint(run).catch(error => {
      if (error instanceof Dropped) return false
      throw error
    })
    return isFetched ? 'again' : 'rest'
  }

  #noteCheckpoint(id: string, problem: Problem): undefined {
    const { runs } = this.#parts
    if (runs.find(id)?.step === 'running') runs.setCheckpointProblem(id, problem)
  }

  #hasWork(run: Run): boolean {
    const { facts, nodes } = this.#parts
    const { step, leaving, withdrawing } = run
    const isKeptTooLong =
      keptDue(run) <= this.#context.now() || (step === 'failed' && !!run.instance && facts.isSpent(run))
    if (isGoing(run) || isKeptTooLong || leaving || withdrawing) return true
    return run.node?.network !== undefined && leavesNetwork(nodes.of(run), instance => facts.isGone(instance))
  }

  #account() {
    const { account, store } = this.#context
    return store.get().accounts[account]
  }

  /** The account's time in so many milliseconds; undefined for never. */
  #inAccountTime(milliseconds: number | undefined): number | undefined {
    const { rate = 1 } = this.#account()?.clock ?? {}
    return milliseconds === undefined ? undefined : this.#context.now() + (milliseconds / 1000) * rate
  }

  /** Shows what a run waits for. */
  #noteWait(run: Run, move: RunMove['do']): void {
    const { runs, facts } = this.#parts
    const { connection, rentals = {}, clock: time } = this.#account() ?? {}
    const { problem, retryAt } = connection?.status === 'offline' ? connection : {}
    const outage = problem && { problem, nextTryAt: retryAt && time ? accountNow(time, retryAt) : undefined }
    const rental = rentals[run.rental ?? '']
    runs.setWait(run.id, waitOf(run, move, { snapshot: facts.of(run), rental, outage }))
  }

  /** Continues runs when their rentals change, without waiting for a poll. */
  #onChange(after: State, before: State): void {
    const { account } = this.#context
    const [now, then] = [after.accounts[account], before.accounts[account]]
    if (now?.rentals === then?.rentals && now?.connection === then?.connection) return
    for (const run of this.#parts.runs.all()) {
      const { id, step, withdrawing, rental = '' } = run
      if (isGoing(run)) this.#noteWait(run, this.#present.get(id) ?? this.#moveOf(run).do)
      if ((step === 'waiting' || withdrawing) && now?.rentals[rental]?.step !== then?.rentals[rental]?.step)
        this.wake(id)
    }
  }
}

/** When the user is reminded of the machine of a run that is over, or it is destroyed; Infinity for never. */
function keptDue({ step, keptUntil, remindAt }: Run): number {
  if (step !== 'failed' && step !== 'done') return Number.POSITIVE_INFINITY
  return Math.min(keptUntil ?? Number.POSITIVE_INFINITY, remindAt ?? Number.POSITIVE_INFINITY)
}
