import type { LimitAction } from '#shared/automation/limit.ts'
import { isGoing, type RunAction, type RunProgram } from '#shared/automation/run.ts'
import { canGetIn } from '#shared/derived.ts'
import { BerthError, type Problem } from '#shared/problem.ts'
import { endRun } from '#ssh/runs/runs.ts'
import type { AccountContext, AccountPoll } from '../account-context.ts'
import type { LimitTarget } from '../limits/targets.ts'
import type { RunAlerts } from './alerts.ts'
import type { BeforeStops } from './before-stop.ts'
import { failed, refetching, resumed, retried } from './changes.ts'
import type { GoingOn } from './continue-failed.ts'
import { allowedAction } from './decide.ts'
import type { RunEnds } from './ends.ts'
import type { MaintenanceMoves } from './maintenance-moves.ts'
import { commandNotReached, machineGone, notFailed, severalMachines, tooLate } from './messages.ts'
import { asksForNotice, hasUndownloadedResults, isOfProject, type NewRun, type Run } from './model.ts'
import type { NewRuns } from './new-runs.ts'
import type { RunOutput, RunOutputs } from './output.ts'
import type { PlannedMoves } from './planned-moves.ts'
import type { RunMachines } from './remote.ts'
import type { RunRemoval } from './removal.ts'
import type { RunFolders } from './run-folders.ts'
import type { RunScheduler } from './scheduler.ts'
import type { RunSteps } from './steps.ts'
import type { StoredRuns } from './stored-runs.ts'
import type { TimedRuns } from './timed-runs.ts'
import type { WaitingMachines } from './waiting-machines.ts'
import type { RunWatchdog } from './watchdog.ts'

/** What works on runs in this room. */
export interface RunParts {
  runs: StoredRuns
  outputs: RunOutputs
  alerts: RunAlerts
  machines: RunMachines
  watchdog: RunWatchdog
  beforeStops: BeforeStops
  folders: RunFolders
  waiting: WaitingMachines
  goingOn: GoingOn
  plannedMoves: PlannedMoves
  maintenanceMoves: MaintenanceMoves
  timed: TimedRuns
  ends: RunEnds
  steps: RunSteps
  scheduler: RunScheduler
  removal: RunRemoval
  begin: NewRuns
}

/**
 * The runs of one account, of commands and of projects: starts them, follows them, and carries out the choice for their
 * end.
 */
export class Runs {
  readonly #context: AccountContext
  readonly #parts: RunParts

  constructor(context: AccountContext, parts: RunParts) {
    this.#context = context
    this.#parts = parts
  }

  /** Starts new ones. */
  get begin(): NewRuns {
    return this.#parts.begin
  }

  /** The machines that wait for another one. */
  get waiting(): WaitingMachines {
    return this.#parts.waiting
  }

  all(): readonly Run[] {
    return this.#parts.runs.all()
  }

  /** Throws `no_such_run`. */
  get(id: string): Run {
    return this.#parts.runs.get(id)
  }

  /** Throws `project_busy` while a run or a sweep of the project is in progress. */
  refuseIfBusy(project: string): void {
    this.#parts.goingOn.refuseIfBusy(project)
  }

  /** Starts one of a sweep on a machine that waits, or on one that is rented for it. Does nothing if it is there already. */
  async startSwept(id: string, newRun: NewRun & Pick<Run, 'sweep'>, on: number | undefined): Promise<void> {
    const { runs, scheduler, begin } = this.#parts
    if (runs.find(id)) scheduler.wake(id)
    else await begin.startOfProject(newRun, on, id)
  }

  /** Stops one with its machine, which keeps its files. */
  async halt(id: string, problem: Problem): Promise<void> {
    const { runs, folders, scheduler } = this.#parts
    const run = runs.get(id)
    if (!isGoing(run) || run.step === 'ending') return
    if (run.step === 'waiting') return this.cancel(id)
    await runs.intend(id, failed(run, problem, this.#context.now()))
    folders.drop(id)
    scheduler.hurry(id)
  }

  /** Removes one with its output. */
  remove(run: Run): Promise<void> {
    return this.#parts.removal.remove(run)
  }

  /** Ends its command. Throws `not_running` where its machine can't be reached. */
  async end(id: string): Promise<void> {
    const { runs, machines, beforeStops, scheduler } = this.#parts
    const { clock } = this.#context.platform
    const run = runs.get(id)
    const { step, program, project } = run
    if (run.givenUp) return this.#withdraw(id)
    if (!project && (step === 'waiting' || (step === 'running' && !run.begun))) {
      await runs.update(id, { step: 'cancelled', endedAt: this.#context.now() })
      runs.setProblem(id, undefined)
      scheduler.hurry(id)
      // Its command may have been started although the answer was lost.
      if (step === 'running' && program !== undefined) void this.#endUnheard(run, program)
      return
    }
    if (step !== 'running' || program === undefined) return
    // One that was to move stays, and ends here.
    await runs.intend(id, { endedByUser: true, movingSince: undefined })
    if (asksForNotice(run)) {
      // A second request ends it at once.
      const ended = beforeStops.end(run)
      if (!run.told) {
        void ended.then(() => scheduler.hurry(id))
        return
      }
      await runs.update(id, { told: undefined })
    }
    const asked = await machines.inside(run, connection => endRun(connection, clock, program))
    const view = machines.viewOf(run.instance)
    if (asked === undefined && !(view && canGetIn(view))) {
      await runs.update(id, { endedByUser: undefined })
      throw new BerthError(commandNotReached)
    }
    scheduler.hurry(id)
  }

  /** Throws `too_late` while the earlier choice is being requested from the service. */
  async change(id: string, afterwards: RunAction): Promise<void> {
    const { runs, steps, scheduler, watchdog } = this.#parts
    const run = runs.get(id)
    if (!isGoing(run)) return
    if (steps.isEnding(id)) throw new BerthError(tooLate(run))
    await runs.update(id, { afterwards })
    scheduler.hurry(id)
    await watchdog.tellIfStale(id)
  }

  /**
   * Ends a project's run without its results, and destroys its machine, once its command had its time before that, if it
   * asked for that; a second request does not wait.
   */
  async cancel(of: string): Promise<void> {
    const { runs, scheduler } = this.#parts
    const run = runs.get(of)
    if (run.givenUp || run.node || !asksForNotice(run)) return this.#withdraw(of)
    await runs.intend(run.id, { givenUp: true })
    scheduler.hurry(run.id)
  }

  /** Continues a project's run on another machine, once its command was told. Throws `not_movable`. */
  async move(id: string): Promise<void> {
    await this.#parts.plannedMoves.ask(id)
    this.#parts.scheduler.hurry(id)
  }

  /** Downloads the results of a project's failed run again. Throws as `retry` does. */
  async fetch(id: string): Promise<void> {
    const { runs, goingOn, scheduler } = this.#parts
    const run = runs.get(id)
    if (!isOfProject(run)) throw new BerthError(notFailed)
    const view = goingOn.refuseUnlessFailed(run)
    if (!view) throw new BerthError(machineGone)
    const change = { ...resumed(run, view), ...refetching(run, this.#context.now()) }
    await goingOn.goOn(run, 'download the results of', change)
    scheduler.hurry(id)
  }

  /**
   * Continues from the step that failed. `into`: the folder of this machine to download to; the usual one if undefined.
   * Of a project it throws `not_failed`, `project_busy` or `no_such_instance`. A sweep starts those without a machine anew.
   */
  async retry(id: string, into: string | undefined): Promise<void> {
    const { runs, folders, goingOn, scheduler } = this.#parts
    const { newId, now } = this.#context
    const run = runs.get(id)
    if (isOfProject(run)) {
      if (run.node) throw new BerthError(severalMachines)
      const view = goingOn.refuseUnlessFailed(run)
      await goingOn.goOn(run, 'go on with', retried(run, view, `r${newId()}`))
    } else {
      if (into !== undefined && hasUndownloadedResults(run)) {
        const changed = runs.update(id, { into, as: undefined })
        folders.drop(id)
        await changed
      }
      if (run.step === 'failed' && hasUndownloadedResults(run)) await runs.update(id, refetching(run, now()))
    }
    scheduler.hurry(id)
  }

  /** Leaves a command's results where they are. */
  async giveUpFetch(id: string): Promise<void> {
    const { runs, alerts, folders, scheduler, watchdog } = this.#parts
    const run = runs.get(id)
    const isLeft = run.step === 'failed' && run.failedAt === 'fetching'
    if (run.project || (run.step !== 'fetching' && !isLeft)) return
    await runs.update(id, { step: 'done', failedAt: undefined, problem: undefined })
    folders.drop(id)
    runs.setProblem(id, undefined)
    alerts.note(run, `Gave up downloading ${run.fetch} of ${run.name}`, 'The instance is left as it is.')
    scheduler.hurry(id)
    await watchdog.tellIfStale(id)
  }

  /** Throws `run_going` or `watchdog_stale`. */
  dismiss(id: string): Promise<void> {
    return this.#parts.removal.dismiss(id)
  }

  output(id: string, of: RunProgram = 'command'): Promise<RunOutput> {
    const run = this.#parts.runs.get(id)
    const program = of === 'setup' ? run.setupProgram : run.program
    return this.#parts.outputs.of(program ?? id)
  }

  /**
   * Resolves with the action that a limit may take without losing results that aren't downloaded yet, once the commands on
   * the instance had their time; undefined for none.
   */
  async beforeLimit(target: LimitTarget): Promise<LimitAction | undefined> {
    const { runs, machines, alerts } = this.#parts
    const action = allowedAction(target, runs.all(), machines.viewOf(target.instance), alerts.note)
    if (action !== undefined) await this.beforeStop(target.instance)
    return action
  }

  /** Resolves once the commands on an instance had their time before it is stopped. */
  beforeStop(instance: number): Promise<void> {
    return this.#parts.beforeStops.ofInstance(instance)
  }

  /** The same for a stop by the user, whose second request does not wait. */
  beforeStopByUser(instance: number): Promise<void> {
    return this.#parts.beforeStops.byUser(instance)
  }

  /** Called before an account is removed. */
  deleteOutputs(): Promise<void> {
    return this.#parts.outputs.delete()
  }

  onPoll(poll: AccountPoll): void {
    const { runs, waiting, watchdog, timed, scheduler, begin, maintenanceMoves } = this.#parts
    waiting.onPoll(poll)
    maintenanceMoves.onPoll(poll.account)
    for (const run of runs.all()) {
      if (run.watchdogStale) void watchdog.tellIfStale(run.id)
      // A command that never began is shown with its rental only, so it goes with that.
      if (!isGoing(run) && run.instance === undefined && !run.project && !this.#isShown(run))
        void this.remove(run)
    }
    void timed.follow((newRun, id) => begin.startOfProject(newRun, undefined, id)).catch(() => undefined)
    scheduler.onPoll(poll)
  }

  dueAt(after: number): number {
    return this.#parts.scheduler.dueAt(after)
  }

  show(): void {
    this.#parts.waiting.show()
    this.#parts.runs.show()
  }

  async flush(): Promise<void> {
    const { runs, waiting, scheduler } = this.#parts
    await Promise.all([scheduler.flush(), waiting.flush()])
    await runs.flush()
  }

  async #withdraw(id: string): Promise<void> {
    const { ends, scheduler } = this.#parts
    for (const run of await ends.withdraw(id)) scheduler.hurry(run.id)
  }

  /** Never rejects. */
  async #endUnheard(run: Run, program: string): Promise<void> {
    const { machines, watchdog } = this.#parts
    const { clock } = this.#context.platform
    await machines.inside(run, connection => endRun(connection, clock, program)).catch(() => undefined)
    await watchdog.tellIfStale(run.id)
  }

  /** Whether State still has the rental that a run waited for: the page shows both together. */
  #isShown({ rental }: Run): boolean {
    const { account, store } = this.#context
    return store.get().accounts[account]?.rentals[rental ?? ''] !== undefined
  }
}
