import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { latestRuns } from '#shared/automation/group.ts'
import { isGoing } from '#shared/automation/run.ts'
import { counted } from '#shared/format/size.ts'
import { BerthError, type Problem } from '#shared/problem.ts'
import type { Setting } from '#shared/project/sweep.ts'
import { canGetIn, spentBy } from '#shared/reading.ts'
import type { AccountContext, AccountPoll } from '../account-context.ts'
import { problemOf } from '../bridge/problems.ts'
import { spentOn } from '../renting/rental.ts'
import { groupLimit, isInterrupted, type ProjectRun, type Run } from '../runs/model.ts'
import { openRuns, type RunServiceParts, type Runs } from '../runs/service.ts'
import { createLoops, retryPause } from '../storage/loops.ts'
import { groupEndedAlert, groupHaltedAlert } from './alerts.ts'
import { type GroupMove, nextGroupMove } from './decide.ts'
import { createGroupLimits } from './limits.ts'
import {
  type Group,
  groupCost,
  groupDeadline,
  groupMostInAll,
  groupRate,
  isBusy,
  openStoredGroups,
} from './model.ts'

export type Sweeps = ReturnType<typeof createSweeps>

export interface NewGroup {
  name: string
  project: Group['project']
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
  parts: Omit<RunServiceParts, 'sweeps'>,
): Promise<{ runs: Runs; sweeps: Sweeps }> {
  const groups = await openStoredGroups(context, () => runs.swept.all())
  const runs = await openRuns(context, {
    ...parts,
    sweeps: {
      agreed: group => groups.find(group)?.project,
      isBusy: (...args) => sweeps.isBusy(...args),
      stopsOf: run => sweeps.stopsOf(run),
      settingOf: run => sweeps.settingOf(run),
      isSpent: group => sweeps.isSpent(group),
      retry: (...args) => sweeps.retry(...args),
    },
  })
  const sweeps = createSweeps(context, { ...parts, groups, runs: runs.swept, waiting: runs.waiting })
  return { runs, sweeps }
}

interface SweepParts extends Pick<RunServiceParts, 'rentals' | 'limits' | 'watchdogs'> {
  groups: Awaited<ReturnType<typeof openStoredGroups>>
  runs: Runs['swept']
  waiting: Runs['waiting']
}

/** Sweeps: runs of a project with several settings, which share machines and limits. */
function createSweeps(
  context: AccountContext,
  { groups, runs, waiting, rentals, limits, watchdogs }: SweepParts,
) {
  const { account, store, activity, notifications, now, ending } = context
  const loops = createLoops(context.machine.clock, ending, advance)
  const { stopsOf, observe } = createGroupLimits(context, { groups, runsOf, waiting, limits, watchdogs })

  /** A group's runs, with the cost of the attempts that one is renting with. */
  function runsOf({ id }: Pick<Group, 'id'>): readonly Run[] {
    return runs
      .all()
      .filter(run => run.group?.id === id)
      .map(run => {
        const rental = run.step === 'waiting' ? rentals.find(run.rental ?? '') : undefined
        return rental ? { ...run, tried: (run.tried ?? 0) + spentOn(rental) } : run
      })
  }

  const viewOf = (instance = 0) => store.get().accounts[account]?.instances[instance]

  function moveOf(group: Group): GroupMove {
    const own = runsOf(group)
    return nextGroupMove({
      group,
      runs: own,
      waiting: waiting
        .all()
        .filter(there => there.group === group.id && !there.ending)
        .filter(
          ({ instance, by }) => !own.some(run => isGoing(run) && run.instance === instance && run.id !== by),
        )
        .filter(({ by }) => !own.some(run => run.id === by && isGoing(run)))
        .map(({ instance }) => {
          const view = viewOf(instance)
          return { instance, isReady: view !== undefined && canGetIn(view) }
        }),
      isRenting: own.some(
        ({ step, rental, instance }) =>
          step === 'waiting' &&
          instance === undefined &&
          rentals.find(rental ?? '')?.tries.at(-1)?.instance === undefined,
      ),
      now: now(),
    })
  }

  async function advance(id: string): Promise<void> {
    for (let fails = 0; !ending.aborted; ) {
      const group = groups.find(id)
      if (!group) return
      const move = moveOf(group)
      if (move.do === 'wait' && group.step !== 'going') return
      try {
        if (move.do === 'wait') await loops.until(id, undefined)
        else await perform(group, move)
        fails = 0
      } catch (error) {
        if (ending.aborted) return
        const pause = retryPause(fails)
        await groups.update(id, {
          short: { problem: problemOf(error), nextTryAt: now() + pause / 1000 },
        })
        await loops.until(id, pause)
        fails += 1
      }
    }
  }

  async function perform(group: Group, move: GroupMove): Promise<void> {
    const { id } = group
    switch (move.do) {
      case 'wait':
        return
      case 'run': {
        const { index, on } = move
        await runs.start(runIdOf(group, index), newRunOf(group, index), on)
        if (on !== undefined) await waiting.take(on)
        if (group.short) await groups.update(id, { short: undefined })
        return
      }
      case 'requeue':
        return requeue(group, move.run)
      case 'release':
        return waiting.end(move.instance)
      case 'halt': {
        const { problem, stops } = move
        const costThen = groupCost(group, runsOf(group), now())
        await groups.intend(id, { step: 'halted', problem, short: undefined, costThen })
        if (stops) await haltRuns(group)
        notifications.tell(account, [groupHaltedAlert(account, group, problem)])
        return
      }
      case 'end': {
        await groups.intend(id, { step: 'over', endedAt: now(), short: undefined })
        const own = runsOf(group)
        const done = latestRuns(group, own).filter(run => run?.step === 'done').length
        notifications.tell(account, [
          groupEndedAlert(account, group, { done, cost: groupCost(group, own, now()) }),
        ])
      }
    }
  }

  async function haltRuns(group: Group): Promise<void> {
    const problem = { code: groupLimit, message: 'The sweep has reached its limit.' }
    for (const run of runsOf(group)) if (isGoing(run)) await runs.halt(run.id, problem)
  }

  /** The run of that place has not begun, and is tried again in a while, or on a machine that is done before. */
  async function requeue(group: Group, run: Run): Promise<void> {
    const rental = rentals.find(run.rental ?? '')
    const problem = run.problem ?? { code: 'not_rented', message: 'No machine was rented.' }
    await groups.update(group.id, current => ({
      ...current,
      tried: current.tried + (run.tried ?? 0) + (rental ? spentOn(rental) : 0),
      short: { problem, nextTryAt: now() + shortPause },
    }))
    await runs.remove(run)
  }

  /**
   * The changes with which a group continues after its user's request. `failed`: how many of its runs count as
   * forgiven.
   */
  async function goOn(id: string, again: (run: Run) => boolean): Promise<void> {
    const group = groups.get(id)
    if (group.step === 'going') throw new BerthError(groupGoing)
    runs.refuseIfBusy(group.project.id)
    const own = runsOf(group)
    const latest = latestRuns(group, own)
    const isKept = (run: Run) =>
      run.step === 'failed' && run.instance !== undefined && viewOf(run.instance) !== undefined
    const chosen = latest.filter(run => run !== undefined).filter(again)
    const afresh = chosen.filter(run => !isKept(run)).flatMap(({ group: place }) => place?.index ?? [])
    const failed = latest.filter(
      run => run?.step === 'failed' && !afresh.includes(run.group?.index ?? -1),
    ).length
    // Its limits count anew before those that have machines continue, and it ends only once all of them have.
    await groups.intend(id, { since: { at: now(), micros: groupCost(group, own, now()), failed } })
    activity.add({ account, kind: 'user', text: `Continued ${group.name}` })
    for (const run of chosen) if (isKept(run)) await runs.retry(run.id)
    await groups.intend(id, current => ({
      ...current,
      step: 'going',
      problem: undefined,
      short: undefined,
      endedAt: undefined,
      attempts: current.attempts.map((attempt, index) => (afresh.includes(index) ? attempt + 1 : attempt)),
    }))
    loops.restart(id)
  }

  /** Goes on once a run has changed. */
  const ignore = store.onChange((after, before) => {
    if (after.accounts[account]?.runs === before.accounts[account]?.runs) return
    for (const { id, step } of groups.all()) if (step === 'going') loops.work(id)
  })
  ending.addEventListener('abort', ignore, { once: true })

  return {
    stopsOf,
    isBusy: (project: string, except?: string): boolean =>
      groups
        .all()
        .some(group => group.project.id === project && group.id !== except && isBusy(group, runs.all())),
    /** Resolves with its id once it is on disk; its runs then start automatically. */
    async start({ name, project, settings, atOnce, keep }: NewGroup): Promise<string> {
      const id = `q${context.newId()}`
      const at = now()
      const reused = waiting.allFor(project.id, project.spec).slice(0, atOnce)
      const before = reused.reduce((sum, { instance }) => {
        const view = viewOf(instance)
        return sum + (view ? spentBy(view, at) : 0)
      }, 0)
      // First, so that none of its runs begins without them.
      for (const { instance } of reused) await waiting.give(instance, id)
      await groups.add({
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
        tried: -before,
      })
      loops.work(id)
      return id
    },
    isSpent(id: string): boolean {
      const group = groups.find(id)
      if (!group) return false
      const most = groupMostInAll(group)
      return most !== undefined && groupCost(group, runsOf(group), now()) >= most
    },
    settingOf({ group: place }: ProjectRun): Readonly<Record<string, string>> {
      const group = groups.find(place?.id ?? '')
      const number = {
        BERTH_RUN: String((place?.index ?? 0) + 1),
        BERTH_RUNS: String(group?.settings.length ?? 1),
      }
      return { ...group?.settings[place?.index ?? 0], ...number }
    },
    async stop(id: string): Promise<void> {
      const group = groups.get(id)
      if (group.step === 'going' || group.step === 'halted')
        await groups.intend(id, { step: 'stopped', problem: undefined, short: undefined, endedAt: now() })
      activity.add({ account, kind: 'user', text: `Stopped ${group.name}` })
      for (const run of runsOf(group)) if (isGoing(run)) await runs.cancel(run.id)
      loops.restart(id)
    },
    /** Starts what has not ended, with fresh limits. Throws `group_going` or `project_busy`. */
    goOn: (id: string): Promise<void> => goOn(id, isInterrupted),
    /** The same, and runs those again that failed. */
    retry: (id: string, index?: number): Promise<void> =>
      goOn(
        id,
        ({ step, group }) =>
          (step === 'failed' || step === 'cancelled') && (index === undefined || group?.index === index),
      ),
    /** Throws `still_running`. */
    async dismiss(id: string): Promise<void> {
      const group = groups.get(id)
      const own = runsOf(group)
      const kept = own.filter(run => run.step === 'failed' && viewOf(run.instance) !== undefined)
      if (isBusy(group, own) || kept.length > 0) throw new BerthError(stillGoing(kept.length))
      for (const run of own) await runs.remove(run)
      await groups.remove(id)
    },
    onPoll(poll: AccountPoll): void {
      for (const group of groups.all()) {
        const isOver = group.step !== 'going' && groupRate(group) === 0 && !isBusy(group, runs.all())
        if (!isOver) observe(group, poll)
      }
      groups.show()
      for (const { id } of groups.all()) loops.work(id)
    },
    dueAt(after: number): number {
      const moments = groups
        .all()
        .filter(({ step }) => step === 'going')
        .flatMap(group => [
          groupDeadline(group, runsOf(group), now()) ?? Number.POSITIVE_INFINITY,
          group.short?.nextTryAt ?? Number.POSITIVE_INFINITY,
        ])
      return Math.min(...moments.filter(moment => moment > after))
    },
    show: groups.show,
    async flush() {
      await loops.rest()
      await groups.flush()
    },
  }
}

function newRunOf(
  { id, name, project, settings, attempts, results, keep = betweenRuns }: Group,
  index: number,
) {
  const { spec, folder } = project
  const number = String(index + 1).padStart(String(settings.length).length, '0')
  return {
    name: `${name} ${number}`,
    command: spec.run,
    project,
    group: { id, index, attempt: attempts[index] ?? 0 },
    into: join(folder, results, number),
    afterwards: spec.after ?? ('destroy' as const),
    keep,
    watchdog: false,
    stuckAfter: 0,
    afterwardsIfStuck: false,
  }
}

/** The run's id, the same whenever it is started, so that no kill makes two of it. */
function runIdOf({ id, attempts }: Group, index: number): string {
  const hash = createHash('sha256')
    .update(`${id} ${index} ${attempts[index] ?? 0}`)
    .digest('hex')
  return `x${hash.slice(0, 16)}`
}

/** `20261127-2212`, in universal time. */
function folderTime(at: number): string {
  return new Date(at * 1000).toISOString().slice(0, 16).replaceAll(/[-:]/g, '').replace('T', '-')
}

const groupGoing = { code: 'group_going', message: 'It’s still running.' }
function stillGoing(kept: number): Problem {
  return kept === 0
    ? {
        code: 'still_running',
        message: 'It’s still running.',
        advice: 'Stop it first, or wait until it ends.',
      }
    : {
        code: 'still_running',
        message: `${counted(kept, 'failed run')} still ${kept === 1 ? 'has its machine' : 'have their machines'}.`,
        advice: 'Resume them, or destroy their machines first.',
      }
}
