import type { Limit } from '#shared/automation/limit.ts'
import type { Problem } from '#shared/problem.ts'
import { remindsWithin } from '#shared/project/project-defaults.ts'
import { exitCodeWords } from '#shared/project/retry.ts'
import { markRun } from '#ssh/runs/runs.ts'
import type { AccountContext } from '../account-context.ts'
import type { Alert } from '../alerts/events.ts'
import type { Departures } from '../departures/perform.ts'
import type { Rentals } from '../renting/rentals.ts'
import {
  commandFailedAlert,
  endedAlert,
  hinderedAlert,
  keptAlert,
  notStartedAlert,
  otherRun,
  pastKeepWords,
  projectDoneAlert,
  projectFailedAlert,
  type RunAlerts,
} from './alerts.ts'
import {
  afterCommand,
  failed,
  movedToNewMachine,
  nextStep,
  over,
  type RunChange,
  released,
  reminded,
} from './changes.ts'
import { blocksEnding, leavesUnreached, type RunMove } from './decide.ts'
import { commandFailed, machineGone, movedWords, unclearCode } from './messages.ts'
import {
  isOfProject,
  isWorker,
  limitsLeft,
  machineLimits,
  type ProjectRun,
  type Run,
  wantsResults,
} from './model.ts'
import { leavesNetwork } from './node-decide.ts'
import { nodeFailure, nodeLeft, type RunNodes } from './nodes.ts'
import type { PlannedMoves } from './planned-moves.ts'
import type { RunPrograms } from './programs.ts'
import type { RunMachines } from './remote.ts'
import { RunRental } from './run-rental.ts'
import { retriedElsewhere } from './seeking.ts'
import type { NextAttempt, StoredRuns } from './stored-runs.ts'
import { createTimedRuns } from './timed-runs.ts'
import type { RunFolders, RunProjects } from './transfer-results.ts'
import type { WaitingMachines } from './waiting-machines.ts'
import type { RunWatchdog } from './watchdog.ts'

export type Moves = ReturnType<typeof createMoves>

/** Dependencies of moves, besides the account. */
interface MoveParts {
  runs: StoredRuns
  alerts: RunAlerts
  machines: RunMachines
  watchdog: RunWatchdog
  programs: RunPrograms
  folders: RunFolders
  projects: Pick<RunProjects, 'rent' | 'seek'>
  nodes: RunNodes
  /** Why a command has failed where its machine is being stopped. */
  stopOf(run: Run): Problem | undefined
  /** Whether an instance certainly no longer exists. */
  isGone(instance: number): boolean
  rentals: Pick<Rentals, 'find' | 'cancel' | 'dismiss'>
  waiting: Pick<WaitingMachines, 'keep'>
  departures: Pick<Departures, 'leave'>
  plannedMoves: PlannedMoves
  /** Gives a run up, once its command had its time before that. */
  giveUp(run: Run): Promise<void>
  /** The stops of the machine that is rented for a run. */
  limitsOf(run: ProjectRun): readonly Limit[]
}

/** Failures in a row, with a connection that works, until the user hears of them. */
const mostUntold = 3

/** Seconds between two searches for a run that waits for an offer. */
const seekEvery = 120

/** Performs the moves of runs. Each rejects where it must be retried. */
export function createMoves(context: AccountContext, parts: MoveParts) {
  const { account, notifications, client, ending, now } = context
  const { runs, alerts, machines, watchdog, programs, folders, nodes, plannedMoves } = parts
  const rental = new RunRental(context, parts.rentals, machines)
  const timed = createTimedRuns(context, runs)
  const { tell, note, nameOf } = alerts
  const asked = new Set<string>()

  async function perform(run: Run, move: RunMove, goesOn: () => boolean): Promise<boolean> {
    const { id, instance } = run
    const { endings } = context
    switch (move.do) {
      case 'wait':
        return true
      case 'cancel':
        await parts.giveUp(run)
        return false
      case 'rent':
        if (isOfProject(run)) {
          const [head] = nodes.of(run)
          const limits = machineLimits(run, limitsLeft(run, parts.limitsOf(run), now(), head))
          const limited = { ...run, project: { ...run.project, limits } }
          await parts.projects.rent(limited, head?.node?.network)
        }
        return false
      case 'begin':
        // It may have a newer run's results to wait for.
        if (timed.isBusy(run)) return true
        await timed.begin(run)
        return false
      case 'postpone':
        await timed.postpone(run)
        return false
      case 'seek':
        if (isOfProject(run)) await seek(run)
        return false
      case 'start':
        if (instance !== undefined)
          await endings.startInstead(instance, () => client().instances.start(instance, { signal: ending }))
        await context.poll()
        await runs.update(id, { starting: undefined })
        return false
      case 'send':
        if (isOfProject(run)) await folders.send(run)
        await reach(run, { step: 'setup' })
        return false
      case 'program': {
        const end = await programs.advance(run, goesOn)
        if (end?.problem) await programFailed(run, end.problem)
        else if (end) await commandEnded(run, end.code)
        return false
      }
      case 'fetch':
        return fetch(run)
      case 'end':
        return end(run)
      case 'keep':
        if (isOfProject(run)) await keep(run)
        return false
      case 'expire':
        if (isOfProject(run)) await expire(run, move)
        return false
      case 'move':
        await moveOn(run)
        return false
      case 'network':
        if (isOfProject(run)) await nodes.makeNetwork(run)
        return false
      case 'address':
        await nodes.readAddress(run)
        return false
      case 'leave': {
        const [head] = nodes.of(run)
        await reach(run, nodeLeft(run, head?.code === 0, now()))
        return false
      }
      case 'fail':
        await fail(run, move.problem, move.quiet)
        return false
      case 'step':
        await step(run, move)
        return false
    }
  }

  /** Searches again for a run whose rental found no offer: the next rental begins once there is one. */
  async function seek(run: ProjectRun): Promise<void> {
    await rental.forget(run)
    const since = run.seeking?.since ?? now()
    await reach(run, { seeking: { ...run.seeking, since, nextAt: now() + seekEvery } })
    const { fits, cheapest } = await parts.projects.seek(run)
    const found = fits ? { ...rental.withAttempts(run), rental: `r${context.newId()}` } : {}
    await reach(run, { ...found, seeking: { since, nextAt: now() + seekEvery, cheapest } })
  }

  /** Records a change at once, unless the run's step changed meanwhile, as by a cancellation. */
  async function reach(run: Run, change: RunChange): Promise<Run | undefined> {
    let isReached = false
    const after = await runs.update(run.id, current => {
      isReached = current.step === run.step
      return isReached ? ({ ...current, ...change } as Run) : current
    })
    return isReached ? after : undefined
  }

  async function step(run: Run, move: Extract<RunMove, { do: 'step' }>): Promise<void> {
    if (move.step === 'done' || move.step === 'failed') {
      await finish(run, move.finalAction)
      return
    }
    const arrives = isOfProject(run) && move.instance !== undefined
    await reach(run, {
      step: move.step,
      instance: move.instance ?? run.instance,
      ...(arrives && rental.arrival(run, move.instance)),
    })
  }

  async function fetch(run: Run): Promise<boolean> {
    if (!(await folders.fetch(run, true))) return true
    const change = { fetched: true, changingSince: undefined, checkpointAt: now() }
    const before = runs.find(run.id)
    if (!before) return false
    if (!run.project)
      note(
        run,
        `Downloaded ${run.fetch} of ${run.name}`,
        `Into ${run.into ?? context.platform.downloads.own}`,
      )
    await conclude(before, { ...change, ...nextStep({ ...before, ...change }, now()) })
    await watchdog.tellIfStale(run.id)
    return false
  }

  async function commandEnded(run: Run, code: number): Promise<void> {
    const before = runs.find(run.id)
    // It ends with its machine, which a fresh reading may not show yet.
    const stop = code === 0 || before?.endedByUser ? undefined : parts.stopOf(run)
    if (stop) return fail(run, stop)
    if (before?.node && (await nodeEnded(before, code))) return
    const again = before && retriedElsewhere(before, code, now())
    if (again) {
      await reach(run, again)
      note(run, `${run.name} ended with ${exitCodeWords(code)}, and is tried again on another machine`)
      return
    }
    const after = before && (await conclude(before, afterCommand(before, code, now())))
    if (!after) return
    const isSpared = before.afterwards !== after.afterwards
    tell(after, endedAlert(account, after, { where: nameOf(after), isSpared }))
    await watchdog.tellIfStale(run.id)
  }

  /** A command without an exit code may have left results, which are downloaded first. */
  async function programFailed(run: Run, problem: Problem): Promise<void> {
    const before = runs.find(run.id)
    const mayHaveResults = run.step === 'running' && before && !before.node && wantsResults(before)
    if (!mayHaveResults || parts.stopOf(run)) return fail(run, problem)
    const after = await conclude(before, afterCommand(before, undefined, now(), problem))
    if (after && !isOfProject(after))
      tell(after, commandFailedAlert(account, { ...after, problem }, nameOf(after)))
    await watchdog.tellIfStale(run.id)
  }

  /** Whether the end of a node's command is another node's matter: that of the first one, without a failure, is none. */
  async function nodeEnded(run: Run, code: number): Promise<boolean> {
    if (code === 0 || run.endedByUser) {
      if (isWorker(run)) await reach(run, { code })
      return isWorker(run)
    }
    const problem = await nodes.brokenBeside(run)
    if (!problem && !isWorker(run)) return false
    await fail(run, problem ?? commandFailed(run, code))
    return true
  }

  /** Enters the step after its command or its results, with which a project's run may have ended. */
  async function conclude(run: Run, change: RunChange): Promise<Run | undefined> {
    const after = await reach(run, change)
    if (!after || !isOfProject(after)) return after
    if (after.step === 'done') tellDone(await reach(after, over(after, 'done', now())))
    else if (after.problem)
      tellOfProject(after, projectFailedAlert(account, after, machines.viewOf(after.instance)))
    return after
  }

  async function end(run: Run): Promise<boolean> {
    const { id, instance, afterwards, watchdog: isWatched, name } = run
    if (instance === undefined || afterwards === 'nothing') return false
    const isOther = (one: Run) => one.id !== id && one.instance === instance
    const other = run.project
      ? undefined
      : runs.all().find(one => isOther(one) && blocksEnding(one, afterwards))
    if (other) {
      runs.setProblem(id, otherRun(other, afterwards))
      return true
    }
    const where = nameOf(run)
    // A stop ends the watchdog, too. Mark the run as served, so that the watchdog does not act after the next start.
    if (isWatched && afterwards === 'stop')
      await machines
        .inside(run, connection => markRun(connection, context.platform.clock, id, 'served'))
        .catch(() => undefined)
    try {
      const current = runs.find(id)
      if (ending.aborted || current?.step !== 'ending' || current.afterwards !== afterwards) return false
      asked.add(id)
      const why = run.endedByUser ? `you stopped ${name}` : `${name} has ${run.problem ? 'failed' : 'ended'}`
      const text = `${afterwards === 'stop' ? 'Stopped' : 'Destroyed'} ${where}, since ${why}`
      await context.endings.end(instance, afterwards, { kind: 'berth', text })
      await finish(run, afterwards)
    } finally {
      asked.delete(id)
    }
    return false
  }

  /** The end of a run. `action`: what was done with its machine. */
  async function finish(run: Run, action: Run['finalAction']): Promise<void> {
    const step = run.problem ? 'failed' : 'done'
    const after = { ...run, finalAction: action ?? run.finalAction }
    const isLeft = isOfProject(run) && step === 'done' && after.finalAction === 'stop'
    const change = { finalAction: after.finalAction, ...over(after, step, now()) }
    tellDone(await reach(run, isLeft ? { ...change, keptUntil: now() + remindsWithin } : change))
  }

  async function keep(run: ProjectRun): Promise<void> {
    await parts.waiting.keep(run)
    tellDone(await reach(run, released(run, now())))
  }

  function tellDone(after: Run | undefined): void {
    if (after?.step !== 'done' || !isOfProject(after)) return
    tellOfProject(after, projectDoneAlert(account, after, now()))
  }

  /** Of a sweep, only its end is alerted. */
  function tellOfProject(run: ProjectRun, alert: Alert): void {
    if (run.sweep) note(run, alert.title, alert.body)
    else notifications.tell(account, [alert])
  }

  async function expire(
    run: ProjectRun,
    { destroys, isSpent }: Extract<RunMove, { do: 'expire' }>,
  ): Promise<void> {
    if (destroys && run.instance !== undefined) {
      const text = `Destroyed ${nameOf(run)}, which ${run.name} kept`
      const detail = pastKeepWords(run, isSpent, now())
      await context.endings.end(run.instance, 'destroy', { kind: 'berth', text, detail })
    }
    const after = await reach(
      run,
      destroys ? { keptUntil: undefined, remindAt: undefined } : reminded(run, now()),
    )
    if (!after || !isOfProject(after)) return
    const facts = { destroyed: destroys, isSpent, view: machines.viewOf(after.instance), now: now() }
    notifications.tell(account, [keptAlert(account, after, facts)])
  }

  async function moveOn(run: Run): Promise<void> {
    const planned = run.movingSince === undefined ? undefined : await plannedMoves.prepare(run)
    const current = runs.find(run.id)
    if (current?.step !== run.step || current.movingSince !== run.movingSince || ending.aborted) return
    await runs.intend(run.id, movedToNewMachine(current, `r${context.newId()}`, now(), planned))
    note(run, `${run.name} continues on another machine`, movedWords(machines.viewOf(run.instance)))
  }

  /** Fails the run, unless its step changed meanwhile, and alerts the user. */
  async function fail(run: Run, problem: Problem, quiet = false): Promise<void> {
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
    const after = failing && (await reach(run, failing))
    if (!after) return
    await endIfBack(after, problem)
    runs.setProblem(run.id, undefined)
    // The first one tells of it.
    if (isWorker(after)) return
    if (isOfProject(after))
      tellOfProject(after, projectFailedAlert(account, after, machines.viewOf(after.instance)))
    else if (run.step !== 'waiting') tell(after, commandFailedAlert(account, after, nameOf(after)))
    // It failed before it began.
    else if (quiet || run.rentedAgain) note(after, `${run.name} was not run`, problem.message)
    else tell(after, notStartedAlert(account, after))
    await watchdog.tellIfStale(run.id)
  }

  /** A machine that is gone and returns is stopped, as that of any failed run: it may have run on, with what only it has. */
  async function endIfBack({ instance, afterwards }: Run, { code }: Problem): Promise<void> {
    if (code !== machineGone.code || instance === undefined) return
    if (afterwards !== 'nothing') await context.endings.expect(instance, 'stop')
  }

  function destroy({ name, step }: Run, instance: number): Promise<boolean> {
    const why = step === 'cancelled' ? `${name} was cancelled` : `${name} no longer needs it`
    return context.endings.end(instance, 'destroy', {
      kind: 'berth',
      text: `Destroyed #${instance}, since ${why}`,
    })
  }

  /** Happens in the run's only loop, so after any request that was pending. */
  async function withdraw(run: Run): Promise<void> {
    const machine = await rental.undo(run)
    if (machine !== undefined) await destroy(run, machine)
    if (rental.isUndoing(run)) return
    await runs.update(run.id, current => ({
      ...current,
      ...(current.project && rental.withAttempts(current, now())),
      withdrawing: undefined,
    }))
  }

  return {
    /** Resolves with true where the next move has to wait. `goesOn`: whether a program is to be followed on. */
    perform,
    /** Downloads results while the command runs. Resolves with false where its machine cannot be entered. */
    async checkpoint(run: Run): Promise<boolean> {
      const wholeAt = now()
      const isFetched = await folders.fetch(run, false)
      if (isFetched) await runs.update(run.id, { checkpointAt: now(), wholeAt })
      return isFetched
    },
    /** Hands on the machines that a run left, or destroys them, and those rented for a cancelled one. */
    async cleanUp(run: Run): Promise<void> {
      for (const left of run.leaving ?? [])
        if (typeof left === 'number') await destroy(run, left)
        else await parts.departures.leave(run.id, run.name, left)
      if (run.leaving) await runs.update(run.id, { leaving: undefined })
      if (run.withdrawing) await withdraw(run)
      if (leavesNetwork(nodes.of(run), parts.isGone)) await nodes.removeNetwork(run)
    },
    /** Ends the tries of a failed move: fails the run, or leaves its instance as it is. */
    async giveUp(run: Run, move: RunMove, problem: Problem): Promise<void> {
      // A stopped instance keeps its files, and one that is to be stopped needs no more.
      const keeps =
        move.do === 'fetch' &&
        !run.project &&
        run.afterwards !== 'stop' &&
        problem.code !== 'results_changing'
      if (keeps) await folders.keep(run, problem)
      else if (isOfProject(run) && leavesUnreached(run, problem)) await moveOn(run)
      else await fail(run, problem)
    },
    /** Shows a failed move, which is retried; the user is alerted if it lasts. */
    async hindered(
      run: Run,
      move: RunMove,
      problem: Problem,
      fails: number,
      retry: NextAttempt,
    ): Promise<void> {
      if (move.do === 'fetch') return folders.hindered(run, problem, retry)
      runs.setProblem(run.id, problem, retry)
      if (isWorker(run)) return
      if (move.do === 'program' && !problem.code.startsWith('ssh_') && fails + 1 === mostUntold)
        tell(run, hinderedAlert(account, run, nameOf(run), problem))
    },
    /** Whether a request to stop or destroy its instance is under way: then it is too late to choose something else. */
    isEnding: (id: string): boolean => asked.has(id),
  }
}
