import { isStoppedAtLimit } from '#shared/automation/run.ts'
import type { Problem } from '#shared/problem.ts'
import { markRun } from '#ssh/runs/runs.ts'
import type { AccountContext } from '../account-context.ts'
import type { Departures } from '../departures/perform.ts'
import type { Leave } from '../departures/record.ts'
import { hinderedAlert, otherRun, type RunAlerts } from './alerts.ts'
import type { BeforeStops } from './before-stop.ts'
import { movedToNewMachine, nextStep } from './changes.ts'
import { blocksEnding, leavesUnreached, type RunMove } from './decide.ts'
import type { RunEnds } from './ends.ts'
import type { RunFacts } from './facts.ts'
import { lostWithDownloads } from './lost-time.ts'
import { fullBesideResults, movedWords } from './messages.ts'
import { isOfProject, isWorker, limitsLeft, machineLimits, type ProjectRun, type Run } from './model.ts'
import { leavesNetwork } from './node-decide.ts'
import { nodeLeft, type RunNodes } from './nodes.ts'
import type { PlannedMoves } from './planned-moves.ts'
import type { Following, RunPrograms } from './programs.ts'
import type { RunMachines } from './remote.ts'
import type { RunProjects, RunSweeps } from './rooms-above.ts'
import type { RunFolders } from './run-folders.ts'
import type { RunRental } from './run-rental.ts'
import type { NextAttempt, StoredRuns } from './stored-runs.ts'
import type { TimedRuns } from './timed-runs.ts'
import type { RunWatchdog } from './watchdog.ts'

/** What steps need, besides the account. */
export interface StepParts {
  runs: StoredRuns
  alerts: RunAlerts
  machines: Pick<RunMachines, 'inside' | 'viewOf'>
  watchdog: Pick<RunWatchdog, 'tellIfStale'>
  programs: RunPrograms
  folders: Pick<RunFolders, 'send' | 'fetch' | 'hasDownloaded' | 'keep' | 'hindered'>
  projects: Pick<RunProjects, 'rent' | 'seek'>
  sweeps: Pick<RunSweeps, 'limitsOf'>
  nodes: Pick<RunNodes, 'of' | 'makeNetwork' | 'removeNetwork' | 'readAddress'>
  facts: Pick<RunFacts, 'isGone'>
  ends: RunEnds
  rental: RunRental
  timed: TimedRuns
  departures: Pick<Departures, 'leave' | 'machinesOf'>
  beforeStops: Pick<BeforeStops, 'ofInstance'>
  plannedMoves: Pick<PlannedMoves, 'prepare'>
}

/** Failures in a row, with a connection that works, until the user hears of them. */
const mostUntold = 3

/** Seconds between two searches for a run that waits for an offer. */
const seekEvery = 120

/** Performs the moves of runs. Each rejects where it must be retried. */
export class RunSteps {
  readonly #context: AccountContext
  readonly #parts: StepParts
  /** Runs for whose instance a stop or destroy is being requested. */
  readonly #asked = new Set<string>()

  constructor(context: AccountContext, parts: StepParts) {
    this.#context = context
    this.#parts = parts
  }

  /** Resolves with true where the next move has to wait. `following`: how long a program is followed. */
  async perform(run: Run, move: RunMove, following: Following): Promise<boolean> {
    const { id, instance } = run
    const { runs, folders, programs, nodes, ends, timed, beforeStops } = this.#parts
    const { client, quitting, endings, now, poll } = this.#context
    switch (move.do) {
      case 'wait':
        return true
      case 'cancel':
        await beforeStops.ofInstance(instance ?? 0)
        await ends.withdraw(id)
        return false
      case 'rent':
        if (isOfProject(run)) await this.#rent(run)
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
        if (isOfProject(run)) await this.#seek(run)
        return false
      case 'start':
        if (instance !== undefined)
          await endings.startInstead(instance, () => client().instances.start(instance, { signal: quitting }))
        await poll()
        await runs.update(id, { starting: undefined })
        return false
      case 'send':
        if (isOfProject(run)) await folders.send(run)
        await runs.reach(run, { step: 'setup' })
        return false
      case 'program': {
        const end = await programs.advance(run, following)
        if (end?.problem) await ends.programFailed(run, end.problem)
        else if (end) await ends.commandEnded(run, end.code)
        return false
      }
      case 'fetch':
        return this.#fetch(run)
      case 'end':
        return this.#end(run)
      case 'keep':
        if (isOfProject(run)) await ends.keep(run)
        return false
      case 'expire':
        if (isOfProject(run)) await ends.expire(run, move)
        return false
      case 'move':
        await this.#moveOn(run)
        return false
      case 'network':
        if (isOfProject(run)) await nodes.makeNetwork(run)
        return false
      case 'address':
        await nodes.readAddress(run)
        return false
      case 'leave': {
        const [head] = nodes.of(run)
        await runs.reach(run, nodeLeft(run, head?.code === 0, now()))
        return false
      }
      case 'fail':
        await ends.fail(run, move.problem, move.quiet)
        return false
      case 'step':
        await this.#step(run, move)
        return false
    }
  }

  /** Downloads results while the command runs. Resolves with false where its machine cannot be entered. */
  async checkpoint(run: Run): Promise<boolean> {
    const { now } = this.#context
    const wholeAt = now()
    const isFetched = await this.#parts.folders.fetch(run, false)
    if (isFetched) await this.#parts.runs.update(run.id, { checkpointAt: now(), wholeAt })
    return isFetched
  }

  /** Hands on the machines that a run left, or destroys them, and those rented for a cancelled one. */
  async cleanUp(run: Run): Promise<void> {
    const { runs, nodes, facts, departures } = this.#parts
    let lost = {}
    for (const left of run.leaving ?? []) {
      if (typeof left === 'number') await this.#destroy(run, left)
      else {
        const { seconds, ...more } = await this.#weighed(run, left)
        await departures.leave(run.id, run.name, { ...left, seconds })
        lost = more
      }
    }
    if (run.leaving) await runs.update(run.id, { ...lost, leaving: undefined })
    if (run.withdrawing) await this.#undoRental(run)
    if (leavesNetwork(nodes.of(run), instance => facts.isGone(instance))) await nodes.removeNetwork(run)
  }

  /** What a machine has alone, and its run loses with it, is all where what was downloaded of it is no longer here. */
  async #weighed(run: Run, left: Leave): Promise<Pick<Leave, 'seconds'> & Pick<Run, 'lost' | 'lostCost'>> {
    if (!isOfProject(run) || (await this.#parts.folders.hasDownloaded(run))) return { seconds: left.seconds }
    return lostWithDownloads(run, left)
  }

  /** Ends the attempts of a failed move: fails the run, or leaves its instance as it is. */
  async giveUp(run: Run, move: RunMove, problem: Problem): Promise<void> {
    // A stopped instance keeps its files, and one that is to be stopped needs no more.
    const keeps =
      move.do === 'fetch' && !run.project && run.afterwards !== 'stop' && problem.code !== 'results_changing'
    if (keeps) await this.#parts.folders.keep(run, problem)
    else if (isOfProject(run) && leavesUnreached(run, problem)) await this.#moveOn(run)
    else {
      const [left] = this.#parts.departures.machinesOf(run.id)
      const isElsewhere = problem.code === 'disk_full' && left !== undefined
      await this.#parts.ends.fail(run, isElsewhere ? fullBesideResults(problem, left) : problem)
    }
  }

  /** Shows a failed move, which is retried; the user is alerted if it lasts. */
  async hindered(
    run: Run,
    move: RunMove,
    problem: Problem,
    fails: number,
    retry: NextAttempt,
  ): Promise<void> {
    const { runs, alerts, folders } = this.#parts
    if (move.do === 'fetch') return folders.hindered(run, problem, retry)
    runs.setProblem(run.id, problem, retry)
    if (isWorker(run)) return
    if (move.do === 'program' && !problem.code.startsWith('ssh_') && fails + 1 === mostUntold)
      alerts.tell(run, hinderedAlert(this.#context.account, run, alerts.nameOf(run), problem))
  }

  /** Whether a request to stop or destroy its instance is under way: then it is too late to choose something else. */
  isEnding(id: string): boolean {
    return this.#asked.has(id)
  }

  async #rent(run: ProjectRun): Promise<void> {
    const { nodes, projects, sweeps } = this.#parts
    const [head] = nodes.of(run)
    const limits = machineLimits(run, limitsLeft(run, sweeps.limitsOf(run), this.#context.now(), head))
    await projects.rent({ ...run, project: { ...run.project, limits } }, head?.node?.network)
  }

  /** Searches again for a run whose rental found no offer: the next rental begins once there is one. */
  async #seek(run: ProjectRun): Promise<void> {
    const { runs, rental, projects } = this.#parts
    const { newId, now } = this.#context
    await rental.forget(run)
    const since = run.seeking?.since ?? now()
    await runs.reach(run, { seeking: { ...run.seeking, since, nextAt: now() + seekEvery } })
    const { fits, cheapest } = await projects.seek(run)
    const found = fits ? { ...rental.withAttempts(run), rental: `r${newId()}` } : {}
    await runs.reach(run, { ...found, seeking: { since, nextAt: now() + seekEvery, cheapest } })
  }

  async #step(run: Run, move: Extract<RunMove, { do: 'step' }>): Promise<void> {
    const { runs, ends, rental } = this.#parts
    if (move.step === 'done' || move.step === 'failed') {
      await ends.finish(run, move.finalAction)
      return
    }
    const arrives = isOfProject(run) && move.instance !== undefined
    await runs.reach(run, {
      step: move.step,
      instance: move.instance ?? run.instance,
      ...(arrives && rental.arrival(run, move.instance)),
    })
  }

  async #fetch(run: Run): Promise<boolean> {
    const { runs, alerts, folders, ends, watchdog } = this.#parts
    const { now, platform } = this.#context
    if (!(await folders.fetch(run, true))) return true
    const change = { fetched: true, changingSince: undefined, checkpointAt: now() }
    const before = runs.find(run.id)
    if (!before) return false
    if (!run.project)
      alerts.note(run, `Downloaded ${run.fetch} of ${run.name}`, `Into ${run.into ?? platform.downloads.own}`)
    await ends.conclude(run, { ...change, ...nextStep({ ...before, ...change }, now()) })
    await watchdog.tellIfStale(run.id)
    return false
  }

  async #end(run: Run): Promise<boolean> {
    const { runs, alerts, machines, ends } = this.#parts
    const { quitting, endings, platform } = this.#context
    const { id, instance, afterwards, watchdog: isWatched } = run
    if (instance === undefined || afterwards === 'nothing') return false
    const isOther = (one: Run) => one.id !== id && one.instance === instance
    const other = run.project
      ? undefined
      : runs.all().find(one => isOther(one) && blocksEnding(one, afterwards))
    if (other) {
      runs.setProblem(id, otherRun(other, afterwards))
      return true
    }
    const where = alerts.nameOf(run)
    // A stop ends the watchdog, too. Mark the run as served, so that the watchdog does not act after the next start.
    if (isWatched && afterwards === 'stop')
      await machines
        .inside(run, connection => markRun(connection, platform.clock, id, 'served'))
        .catch(() => undefined)
    try {
      const current = runs.find(id)
      if (quitting.aborted || current?.step !== 'ending' || current.afterwards !== afterwards) return false
      this.#asked.add(id)
      const text = `${afterwards === 'stop' ? 'Stopped' : 'Destroyed'} ${where}, since ${endedWhy(run)}`
      await endings.end(instance, afterwards, { kind: 'berth', text })
      await ends.finish(run, afterwards)
    } finally {
      this.#asked.delete(id)
    }
    return false
  }

  async #moveOn(run: Run): Promise<void> {
    const { runs, alerts, machines, plannedMoves } = this.#parts
    const { quitting, newId, now } = this.#context
    const planned = run.movingSince === undefined ? undefined : await plannedMoves.prepare(run)
    const current = runs.find(run.id)
    if (current?.step !== run.step || current.movingSince !== run.movingSince || quitting.aborted) return
    await runs.intend(run.id, movedToNewMachine(current, `r${newId()}`, now(), planned))
    alerts.note(run, `${run.name} continues on another machine`, movedWords(machines.viewOf(run.instance)))
  }

  #destroy({ name, step }: Run, instance: number): Promise<boolean> {
    const why = step === 'cancelled' ? `${name} was cancelled` : `${name} no longer needs it`
    return this.#context.endings.end(instance, 'destroy', {
      kind: 'berth',
      text: `Destroyed #${instance}, since ${why}`,
    })
  }

  /** Happens in the run's only loop, so after any request that was pending. */
  async #undoRental(run: Run): Promise<void> {
    const { runs, rental } = this.#parts
    const machine = await rental.undo(run)
    if (machine !== undefined) await this.#destroy(run, machine)
    if (rental.isUndoing(run)) return
    await runs.update(run.id, current => ({
      ...current,
      ...(current.project && rental.withAttempts(current, this.#context.now())),
      withdrawing: undefined,
    }))
  }
}

/** Why a run's machine is ended, as a clause. */
function endedWhy({ name, endedByUser, problem }: Run): string {
  if (endedByUser) return `you stopped ${name}`
  return `${name} has ${isStoppedAtLimit(problem) ? 'reached its limit' : problem ? 'failed' : 'ended'}`
}
