import { isGoing } from '#shared/automation/run.ts'
import type { Problem } from '#shared/problem.ts'
import { remindsWithin } from '#shared/project/project-defaults.ts'
import { exitCodeWords } from '#shared/project/retry.ts'
import type { AccountContext } from '../account-context.ts'
import type { Alert } from '../alerts/events.ts'
import {
  alertId,
  commandFailedAlert,
  endedAlert,
  keptAlert,
  notStartedAlert,
  pastKeepWords,
  projectDoneAlert,
  projectFailedAlert,
  type RunAlerts,
} from './alerts.ts'
import { afterCommand, failed, over, type RunChange, released, reminded } from './changes.ts'
import { mayMoveOn, type RunMove } from './decide.ts'
import type { RunFacts } from './facts.ts'
import { commandFailed, machineGone, processGone, unclearCode } from './messages.ts'
import {
  isMovable,
  isOfProject,
  isWorker,
  type ProjectRun,
  type Run,
  runCostBy,
  wantsResults,
} from './model.ts'
import { nodeFailure, type RunNodes } from './nodes.ts'
import type { RunMachines } from './remote.ts'
import type { RunFolders } from './run-folders.ts'
import type { RunRental } from './run-rental.ts'
import { retriedElsewhere } from './seeking.ts'
import type { StoredRuns } from './stored-runs.ts'
import type { WaitingMachines } from './waiting-machines.ts'
import type { RunWatchdog } from './watchdog.ts'

/** Seconds from the news that a failed run's cost was passed in a sleep to the end of its machine. */
const lastCallBefore = 3600

/** What the ends of runs need, besides the account. */
export interface EndParts {
  runs: StoredRuns
  alerts: RunAlerts
  machines: Pick<RunMachines, 'viewOf'>
  watchdog: Pick<RunWatchdog, 'tellIfStale'>
  nodes: Pick<RunNodes, 'of' | 'brokenBeside' | 'endCommand'>
  facts: Pick<RunFacts, 'stopOf'>
  rental: Pick<RunRental, 'withAttempts'>
  waiting: Pick<WaitingMachines, 'keep'>
  folders: Pick<RunFolders, 'drop'>
}

/** How runs end: well, badly, by their user, and what then becomes of their machines. Each end is told once. */
export class RunEnds {
  readonly #context: AccountContext
  readonly #parts: EndParts

  constructor(context: AccountContext, parts: EndParts) {
    this.#context = context
    this.#parts = parts
  }

  async commandEnded(run: Run, code: number): Promise<void> {
    const { runs, alerts, facts, watchdog } = this.#parts
    const { account, now } = this.#context
    const before = runs.find(run.id)
    if (before?.step !== run.step) return
    // It ends with its machine, which a fresh reading may not show yet.
    const stop = code === 0 || before.endedByUser ? undefined : facts.stopOf(run)
    if (stop) return this.fail(run, stop)
    if (before.node && (await this.#nodeEnded(before, code))) return
    const again = retriedElsewhere(before, code, now())
    if (again) {
      if (await runs.reach(run, again))
        alerts.note(
          run,
          `${run.name} ended with ${exitCodeWords(code)}, and is tried again on another machine`,
        )
      return
    }
    const after = await this.conclude(run, afterCommand(before, code, now()))
    if (!after) return
    const isSpared = before.afterwards !== after.afterwards
    alerts.tell(after, endedAlert(account, after, { where: alerts.nameOf(after), isSpared }))
    await watchdog.tellIfStale(run.id)
  }

  /**
   * A command without an exit code may have left results, which are downloaded first. Where its file lets it move, it moves:
   * its machine was outbid or restarted while nobody watched, and runs again.
   */
  async programFailed(run: Run, problem: Problem): Promise<void> {
    const { runs, alerts, facts, watchdog } = this.#parts
    const { account, now } = this.#context
    const before = runs.find(run.id)
    if (before && problem === processGone && goesOnElsewhere(before) && !facts.stopOf(run)) {
      if (await runs.reach(run, { movingSince: now() }))
        alerts.note(run, `${run.name} continues on another machine: its process was gone`, problem.message)
      return
    }
    const mayHaveResults = run.step === 'running' && before && !before.node && wantsResults(before)
    if (!mayHaveResults || facts.stopOf(run)) return this.fail(run, problem)
    const after = await this.conclude(run, afterCommand(before, undefined, now(), problem))
    if (after && !isOfProject(after))
      alerts.tell(after, commandFailedAlert(account, { ...after, problem }, alerts.nameOf(after)))
    await watchdog.tellIfStale(run.id)
  }

  /** Enters the step after its command or its results, with which a project's run may have ended, unless its step changed meanwhile. */
  async conclude(run: Run, change: RunChange): Promise<Run | undefined> {
    const { runs, machines } = this.#parts
    const { account, now } = this.#context
    const after = await runs.reach(run, change)
    if (!after || !isOfProject(after)) return after
    if (after.step === 'done') this.#tellDone(await runs.reach(after, over(after, 'done', now())))
    else if (after.problem)
      this.#tellOfProject(after, projectFailedAlert(account, after, machines.viewOf(after.instance)))
    return after
  }

  /** The end of a run. `action`: what was done with its machine. */
  async finish(run: Run, action: Run['finalAction']): Promise<void> {
    const at = this.#context.now()
    const step = run.problem ? 'failed' : 'done'
    const after = { ...run, finalAction: action ?? run.finalAction }
    const isLeft = isOfProject(run) && step === 'done' && after.finalAction === 'stop'
    const change = { finalAction: after.finalAction, ...over(after, step, at) }
    const kept = isLeft ? { ...change, keptUntil: at + remindsWithin } : change
    this.#tellDone(await this.#parts.runs.reach(run, kept))
  }

  /** The end of a run whose machine waits for the next one. */
  async keep(run: ProjectRun): Promise<void> {
    const { runs, waiting } = this.#parts
    await waiting.keep(run)
    this.#tellDone(await runs.reach(run, released(run, this.#context.now())))
  }

  /** The time has passed for which a failed run's machine is kept: it's destroyed, or its user is reminded of it. */
  async expire(run: ProjectRun, { destroys, isSpent }: Extract<RunMove, { do: 'expire' }>): Promise<void> {
    const { runs, alerts, machines } = this.#parts
    const { account, endings, notifications, now } = this.#context
    if (destroys && run.instance !== undefined) {
      const text = `Destroyed ${alerts.nameOf(run)}, which ${run.name} kept`
      const detail = pastKeepWords(run, isSpent, now())
      await endings.end(run.instance, 'destroy', { kind: 'berth', text, detail })
    }
    const gone = { keptUntil: undefined, remindAt: undefined }
    const lastCall = isSpent ? now() + lastCallBefore : undefined
    const after = await runs.reach(run, destroys ? gone : { ...reminded(run, now()), lastCall })
    if (!after || !isOfProject(after)) return
    const facts = { destroyed: destroys, isSpent, view: machines.viewOf(after.instance), now: now() }
    notifications.tell(account, [keptAlert(account, after, facts)])
  }

  /** Fails the run, unless its step changed meanwhile, and alerts the user. */
  async fail(run: Run, problem: Problem, quiet = false): Promise<void> {
    const { runs, alerts, machines, nodes, rental, watchdog } = this.#parts
    const { account, now } = this.#context
    const before = runs.find(run.id)
    if (before?.node) await nodes.endCommand(before)
    const change = before?.node ? nodeFailure : failed
    const attempts =
      before?.project && !before.sweep && before.step === 'waiting' ? rental.withAttempts(before) : {}
    // Its machine is destroyed as soon as it's known which it is.
    const undone = problem.code === unclearCode ? { withdrawing: true } : {}
    const failing = before && {
      ...attempts,
      ...change({ ...before, ...attempts }, problem, now()),
      ...undone,
    }
    const after = failing && (await runs.reach(run, failing))
    if (!after) return
    await this.#endIfBack(after, problem)
    runs.setProblem(run.id, undefined)
    // The first one tells of it.
    if (isWorker(after)) return
    if (isOfProject(after))
      this.#tellOfProject(after, projectFailedAlert(account, after, machines.viewOf(after.instance)))
    else if (run.step !== 'waiting')
      alerts.tell(after, commandFailedAlert(account, after, alerts.nameOf(after)))
    // It failed before it began.
    else if (quiet || run.rentedAgain) alerts.note(after, `${run.name} was not run`, problem.message)
    else alerts.tell(after, notStartedAlert(account, after))
    await watchdog.tellIfStale(run.id)
  }

  /** Its user gives a project's run up. Resolves with the runs that have something to do then. */
  async withdraw(of: string): Promise<readonly Run[]> {
    const { runs, folders, nodes } = this.#parts
    const { account, activity, notifications, now } = this.#context
    const named = runs.get(of)
    const own = nodes.of(named)
    const run = own[0] ?? named
    if (!run.project || (!isGoing(run) && run.step !== 'failed')) return []
    const { id, instance, name } = run
    await runs.intend(id, { ...over(run, 'cancelled', now()), withdrawing: true, givenUp: undefined })
    const detail =
      instance === undefined
        ? 'The machine being rented for it will be destroyed.'
        : `#${instance} is destroyed.`
    activity.add({ account, instance, kind: 'user', text: `Gave up ${name}`, detail })
    notifications.withdraw(alertId(account, run))
    folders.drop(id)
    return own.length > 0 ? nodes.of(run) : [run]
  }

  /** Whether the end of a node's command is another node's matter: that of the first one, without a failure, is none. */
  async #nodeEnded(run: Run, code: number): Promise<boolean> {
    const { runs, nodes } = this.#parts
    if (code === 0 || run.endedByUser) {
      if (isWorker(run)) await runs.reach(run, { code })
      return isWorker(run)
    }
    const problem = await nodes.brokenBeside(run)
    if (!problem && !isWorker(run)) return false
    await this.fail(run, problem ?? commandFailed(run, code))
    return true
  }

  #tellDone(after: Run | undefined): void {
    if (after?.step !== 'done' || !isOfProject(after)) return
    const { account, now } = this.#context
    const machines = after.node ? this.#parts.nodes.of(after) : [after]
    const cost = machines.reduce((sum, run) => sum + runCostBy(run, now()), 0)
    this.#tellOfProject(after, projectDoneAlert(account, after, cost))
  }

  /** Of a sweep, only its end is alerted. */
  #tellOfProject(run: ProjectRun, alert: Alert): void {
    const { account, notifications } = this.#context
    if (run.sweep) this.#parts.alerts.note(run, alert.title, alert.body)
    else notifications.tell(account, [alert])
  }

  /** A machine that is gone and returns is stopped, as that of any failed run: it may have run on, with what only it has. */
  async #endIfBack({ instance, afterwards }: Run, { code }: Problem): Promise<void> {
    if (code !== machineGone.code || instance === undefined) return
    if (afterwards !== 'nothing') await this.#context.endings.expect(instance, 'stop')
  }
}

/** Whether its command has begun on its machine, and may go on on another one. */
function goesOnElsewhere(run: Run): boolean {
  return isMovable(run) && !run.endedByUser && mayMoveOn(run)
}
