import type * as v from 'valibot'
import {
  isGoing,
  isProjectRun,
  type ProjectRunView,
  RunFields,
  type RunView,
} from '#shared/automation/run.ts'
import type { Waiting } from '#shared/automation/waiting.ts'
import type { SyncProgress } from '#shared/instance/sync.ts'
import type { Problem } from '#shared/problem.ts'
import { portsOf, resultsOf } from '#shared/project/bounds.ts'
import type { AccountContext } from '../account-context.ts'
import { type Change, type Collection, openCollection, type Rescue } from '../storage/collection.ts'
import { isDeepEqual } from '../storage/store.ts'
import { failed, type RunChange, withStaleWatchdog } from './changes.ts'
import { runNotRead } from './messages.ts'
import { isMovable, isOfProject, isWorker, keepingFor, type ProjectRun, Run } from './model.ts'
import { type Wait, waitingOf } from './waiting.ts'

/** The runs of one account, as stored and as shown in State. */
export interface StoredRuns
  extends Pick<
    Collection<Run, string>,
    'all' | 'find' | 'get' | 'add' | 'addAll' | 'putSoon' | 'show' | 'flush'
  > {
  /** A change that must be on disk before an action. Rejects with `not_written`, and then nothing has changed. */
  intend(id: string, change: RunChange): Promise<void>
  /** Records something that happened. Never rejects, even where it cannot be stored. */
  update(id: string, change: Change<Run>): Promise<Run | undefined>
  /** The same, unless the run's step changed meanwhile, as by a cancellation: then nothing changes, and it's undefined. */
  reach(run: Run, change: RunChange): Promise<Run | undefined>
  /** The same as `update` for changes that may be lost, stored within a second. */
  note(id: string, change: RunChange): void
  remove(id: string): Promise<void>
  /** Why the last try failed; when the next one is, and when it is given up, epoch seconds of the account's time. */
  setProblem(id: string, problem: Problem | undefined, retry?: NextAttempt): void
  /** What it waits for. Where that stays the same, it goes on since then. */
  setWait(id: string, wait: Wait | undefined): void
  /** Why the last checkpoint failed. */
  setCheckpointProblem(id: string, problem: Problem | undefined): void
  checkpointProblem(id: string): Problem | undefined
  /** How far the upload or download of its folder is; undefined while there is none. */
  noteProgress(id: string, progress: SyncProgress | undefined): void
}

/** Milliseconds between two updates of progress in State. */
const updateInterval = 300

/** Parts of a run without which it cannot go on as agreed. */
const vital = /^(?:step|project|node|group|instance|rental|afterwards|outcome|command)\b(?!\.(?:price|offer))/

/** What is left of a run that cannot be read: if it cannot go on, it fails, which stops its machine and keeps its files. */
function rescueRun(at: number): Rescue<Run> {
  return {
    instead: {
      name: 'A run',
      command: '',
      step: 'running',
      afterwards: 'stop',
      watchdog: false,
      stuckAfter: 0,
      afterwardsIfStuck: false,
      createdAt: at,
      outputBytes: 0,
      droppedBytes: 0,
      lastLine: '',
    },
    keep(run, lacking) {
      if (!isGoing(run) || !lacking.some(part => vital.test(part))) return run
      const isOwn = run.project !== undefined || lacking.some(part => part.startsWith('project'))
      // The machine that is being rented for it would run for nothing.
      const withdrawing = (isOwn && run.step === 'waiting' && run.instance === undefined) || undefined
      return { ...unreadable(run, at), withdrawing: run.withdrawing ?? withdrawing }
    },
  }
}

function unreadable(run: Run, at: number): Run {
  return { ...run, ...failed(run, runNotRead, at) }
}

/** `agreed`: what all runs of a group have in common, which is not on disk with each. */
export async function openStoredRuns(
  context: AccountContext,
  agreed: (sweep: string) => ProjectRun['project'] | undefined,
): Promise<StoredRuns> {
  const { clock } = context.platform
  const problems = new Map<string, Hindrance>()
  const checkpoints = new Map<string, Problem>()
  const progress = new Map<string, SyncProgress>()
  const waits = new Map<string, Wait & { from: number }>()
  function viewOf(run: Run): RunView | ProjectRunView {
    const { id } = run
    return runView(run, {
      hindrance: problems.get(id) ?? hindranceOf(checkpoints.get(id)),
      sync: progress.get(id),
      waiting: progress.has(id) ? undefined : waitingOf(run, waits.get(id), problems.get(id)),
    })
  }
  const runs = await openCollection(context, {
    name: 'runs',
    schema: Run,
    key: ({ id }) => id,
    missing: { code: 'no_such_run', message: 'That run is no longer on the list.' },
    stored: run => (run.sweep ? { ...run, project: undefined } : run),
    rescue: rescueRun(context.now()),
    restored(run) {
      if (!run.sweep) return run
      const project = agreed(run.sweep.id)
      return project || !isGoing(run) ? { ...run, project } : unreadable(run, context.now())
    },
    entry: {
      field: 'runs',
      view: (run, all) => withNodes(run, all, viewOf),
      within: ({ id, node }) => node?.of ?? id,
    },
  })
  let cancelUpdate: (() => void) | undefined

  function show(): void {
    cancelUpdate?.()
    cancelUpdate = undefined
    runs.show()
  }

  const changed = (change: Change<Run>) => (run: Run) =>
    withStaleWatchdog(run, typeof change === 'function' ? change(run) : ({ ...run, ...change } as Run))

  return {
    ...runs,
    show,
    intend: (id, change) => runs.intend(id, changed(change)),
    update: (id, change) => runs.update(id, changed(change)),
    async reach({ id, step }, change) {
      let isReached = false
      const after = await runs.update(
        id,
        changed(current => {
          isReached = current.step === step
          return isReached ? ({ ...current, ...change } as Run) : current
        }),
      )
      return isReached ? after : undefined
    },
    note(id, change) {
      const run = runs.find(id)
      if (run) runs.putSoon(changed(change)(run))
      cancelUpdate ??= clock.after(updateInterval, show)
    },
    remove(id) {
      problems.delete(id)
      checkpoints.delete(id)
      waits.delete(id)
      return runs.forget(id)
    },
    setWait(id, wait) {
      const before = waits.get(id)
      const after = wait && { ...wait, from: before?.for === wait.for ? before.from : context.now() }
      if (isDeepEqual(before, after)) return
      if (after) waits.set(id, after)
      else waits.delete(id)
      runs.touch(id)
      cancelUpdate ??= clock.after(updateInterval, show)
    },
    setProblem(id, problem, retry) {
      if (problem) problems.set(id, { problem, ...retry })
      else if (!problems.delete(id)) return
      runs.touch(id)
      show()
    },
    setCheckpointProblem(id, problem) {
      if (problem) checkpoints.set(id, problem)
      else if (!checkpoints.delete(id)) return
      runs.touch(id)
      show()
    },
    checkpointProblem: id => checkpoints.get(id),
    noteProgress(id, told) {
      if (told) progress.set(id, told)
      else progress.delete(id)
      runs.touch(id)
      cancelUpdate ??= clock.after(updateInterval, show)
    },
    async flush() {
      cancelUpdate?.()
      await runs.flush()
    },
  }
}

/** When something that failed is tried again, and given up, in epoch seconds of the account's time. */
export interface NextAttempt {
  nextTryAt?: number
  givesUpAt?: number
}

/** Why a run does not continue. */
interface Hindrance extends NextAttempt {
  problem: Problem
}

const hindranceOf = (problem: Problem | undefined): Hindrance | undefined => problem && { problem }

/**
 * The oldest ended runs with nothing left to do, beyond the number that is kept. Those of sweeps go with the sweep, and
 * those of other nodes with the first.
 */
export function surplusRuns(runs: readonly Run[], most: number): readonly Run[] {
  const isBusy = (run: Run) => isGoing(run) || run.leaving || run.withdrawing
  const ended = runs.filter(run => !isBusy(run) && !run.sweep && !isWorker(run))
  return ended.slice(0, Math.max(0, ended.length - most))
}

const shownFields = Object.keys(RunFields.entries) as (keyof typeof RunFields.entries)[]

function runView(
  run: Run,
  { hindrance, sync, waiting }: { hindrance?: Hindrance; sync?: SyncProgress; waiting?: Waiting },
): RunView | ProjectRunView {
  const { step, problem, begun, setupProgram, program, unreachedSince: since } = run
  const fields = Object.fromEntries(shownFields.map(name => [name, run[name]]))
  const view: RunView = {
    ...(fields as v.InferOutput<typeof RunFields>),
    outputs: [
      ...(program !== undefined && begun ? (['command'] as const) : []),
      ...(setupProgram !== undefined && (step !== 'setup' || begun) ? (['setup'] as const) : []),
    ],
    unreached: since === undefined ? undefined : { since, nextTryAt: hindrance?.nextTryAt },
    watchdogStale: run.watchdogStale ?? false,
    sync,
    fetched: run.fetched ?? false,
    interrupted: run.interrupted ?? false,
    problem: hindrance?.problem ?? problem,
    waiting,
  }
  return isOfProject(run) ? { ...view, ...projectPart(run) } : view
}

/** A run with those of the other nodes, and what all their machines cost together. */
function withNodes(
  run: Run,
  all: readonly Run[],
  viewOf: (run: Run) => RunView | ProjectRunView,
): RunView | ProjectRunView {
  const view = viewOf(run)
  if (!run.node || !isProjectRun(view)) return view
  const nodes = all
    .filter(other => isWorker(other) && other.node?.of === run.id)
    .sort((a, b) => (a.node?.rank ?? 0) - (b.node?.rank ?? 0))
    .map(viewOf)
    .filter(isProjectRun)
  const costs = [view, ...nodes].map(({ cost }) => cost)
  const at = Math.max(...costs.map(cost => cost.at))
  const cost = {
    at,
    micros: sum(costs.map(one => one.micros + Math.floor((one.perHour * (at - one.at)) / 3600))),
    perHour: sum(costs.map(({ perHour }) => perHour)),
  }
  return { ...view, nodes, cost }
}

function sum(amounts: readonly number[]): number {
  return amounts.reduce((total, amount) => total + amount, 0)
}

function projectPart(
  run: ProjectRun,
): Omit<ProjectRunView, Exclude<keyof RunView, 'project' | 'moves' | 'most'>> {
  const { project, step, most, spentBefore = 0, leftCosts = {}, spent, endedAt, createdAt, startedAt } = run
  const { keptUntil } = run
  const { keptCost = 0, volumeCost = 0, leftCost = 0 } = project
  const before = Object.values(leftCosts).reduce((total, cost) => total + cost, spentBefore)
  return {
    project: project.id,
    most: most === undefined ? undefined : most + keptCost + volumeCost + leftCost,
    moves: run.moves ?? 0,
    isMovable: isMovable(run) || undefined,
    ports: step === 'running' ? portsOf(project.spec) : undefined,
    cost: spent
      ? { ...spent, micros: spent.micros + before, perHour: endedAt === undefined ? spent.perHour : 0 }
      : { micros: before, at: createdAt, perHour: 0 },
    keptUntil:
      step === 'failed' && keptUntil !== undefined
        ? { at: keptUntil, destroys: keepingFor(run).destroys }
        : undefined,
    fetchable: step === 'failed' && startedAt !== undefined && resultsOf(project.spec).length > 0,
  }
}
