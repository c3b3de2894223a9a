import { createHash } from 'node:crypto'
import { type GroupView, latestRuns } from '#contract/automation/group.ts'
import { fixedMoment, type Limit } from '#contract/automation/limit.ts'
import { isGoing } from '#contract/automation/run.ts'
import { counted } from '#contract/format/size.ts'
import { BerthError, type Problem } from '#contract/problem.ts'
import type { Setting } from '#contract/project/sweep.ts'
import { canGetIn, spentBy } from '#contract/reading.ts'
import type { AccountContext, AccountPoll, Automation } from '../account-context.ts'
import { problemOf } from '../app/problems.ts'
import type { StoredLimits } from '../limits/model.ts'
import type { Watchdogs } from '../limits/watchdog.ts'
import { spentOn } from '../renting/rental.ts'
import type { Rentals } from '../renting/rentals.ts'
import { type Collection, openCollection } from '../storage/collection.ts'
import { createLoops, retryPause } from '../storage/loops.ts'
import { groupEndedAlert, groupHaltedAlert } from './alerts.ts'
import { type GroupMove, groupLimit, nextGroupMove } from './group-decide.ts'
import {
  Group,
  groupCost,
  groupDeadline,
  groupLimits,
  groupMost,
  groupRate,
  isBusy,
  settled,
} from './group-model.ts'
import type { RunMachines } from './machine.ts'
import type { ProjectRun, Run } from './model.ts'
import type { WaitingMachines } from './warm.ts'

/** Sweeps: runs of a project with several settings, which share machines and limits. */
export interface Groups extends Required<Pick<Automation, 'onPoll' | 'show' | 'flush' | 'dueAt'>> {
  /** Resolves with its id once it is on disk; its runs then start automatically. */
  start(wanted: NewGroup): Promise<string>
  find(id: string): Group | undefined
  /** Whether one of a project, other than `except`, has runs in progress or to come. */
  isBusy(project: string, except?: string): boolean
  /** The stops of a machine that is rented for a run of it: its share of what is left of the whole. */
  stopsOf(run: ProjectRun): readonly Limit[]
  /** The variables of the environment that differ from run to run. */
  settingOf(run: ProjectRun): Readonly<Record<string, string>>
  stop(id: string): Promise<void>
  /** Starts what has not ended, with fresh limits. Throws `group_going` or `project_busy`. */
  goOn(id: string): Promise<void>
  /** The same, and runs those again that failed. */
  retry(id: string, index?: number): Promise<void>
  /** Throws `still_running`. */
  dismiss(id: string): Promise<void>
}

export interface NewGroup {
  name: string
  project: Group['project']
  settings: readonly Setting[]
  atOnce: number
  keep?: number
}

/** The groups' operations on runs. */
export interface GroupRuns {
  all(): readonly Run[]
  /** Starts one on a machine that waits, or on one that is rented for it. Does nothing if it is there already. */
  start(id: string, group: Group, place: { index: number; on: number | undefined }): Promise<void>
  cancel(id: string): Promise<void>
  /** Stops one with its machine, which keeps its files. */
  halt(id: string, problem: Problem): Promise<void>
  /** Goes on with one that failed and still has its machine. */
  retry(id: string): Promise<void>
  /** Removes one with its output. */
  remove(run: Run): Promise<void>
  refuseIfBusy(project: string): void
}

export interface GroupParts {
  groups: Collection<Group, string>
  runs: GroupRuns
  waiting: WaitingMachines
  machines: Pick<RunMachines, 'viewOf'>
  rentals: Pick<Rentals, 'find'>
  limits: Pick<StoredLimits, 'all' | 'put'>
  watchdogs: Pick<Watchdogs, 'settle'>
}

/** Seconds until a machine is looked for again where none was to be had. */
const shortPause = 300

/** The groups of an account as stored, which the stored runs need, too. */
export function openStoredGroups(
  context: AccountContext,
  runs: () => readonly Run[],
): Promise<Collection<Group, string>> {
  return openCollection(context, {
    name: 'groups',
    schema: Group,
    key: ({ id }) => id,
    missing: { code: 'no_such_group', message: 'That sweep is no longer on the list.' },
    view: all => ({
      groups: Object.fromEntries(
        all.map(group => [
          group.id,
          groupView(
            group,
            runs().filter(run => run.group?.id === group.id),
            context.now(),
          ),
        ]),
      ),
    }),
  })
}

export function createGroups(
  context: AccountContext,
  { groups, runs, waiting, machines, rentals, limits, watchdogs }: GroupParts,
): Groups {
  const { account, store, activity, notifications, now, ending } = context
  const loops = createLoops(context.machine.clock, ending, advance)

  const runsOf = ({ id }: Pick<Group, 'id'>) => runs.all().filter(run => run.group?.id === id)

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
          const view = machines.viewOf(instance)
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
        await runs.start(runIdOf(group, index), group, { index, on })
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
        await groups.intend(id, { step: 'halted', problem, short: undefined })
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
      run.step === 'failed' && run.instance !== undefined && machines.viewOf(run.instance) !== undefined
    const chosen = latest.filter(run => run !== undefined).filter(again)
    const afresh = chosen.filter(run => !isKept(run)).flatMap(({ group: place }) => place?.index ?? [])
    const failed = latest.filter(
      run => run?.step === 'failed' && !afresh.includes(run.group?.index ?? -1),
    ).length
    // Its limits count anew before those go on that have their machines, and it ends only once all of them have.
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

  /** Lets each machine be stopped when the whole would reach its limit, also while this computer sleeps. */
  async function guard(group: Group, own: readonly Run[]): Promise<void> {
    const deadline = groupDeadline(group, own, now())
    if (deadline === undefined || group.step !== 'going') return
    for (const { instance, step } of own) {
      if (instance === undefined || !isGoing({ step })) continue
      const guarding = limits
        .all()
        .find(
          limit =>
            limit.instance === instance && !limit.ended && limit.asleep && fixedMoment(limit) !== undefined,
        )
      const moment = guarding && fixedMoment(guarding)
      if (!guarding || moment === undefined || guarding.action !== 'stop') continue
      if (deadline > moment - tolerance.early && deadline < moment + tolerance.late) continue
      await limits.put({ ...guarding, when: { kind: 'time', at: Math.max(deadline, now() + 1) } })
      void watchdogs.settle(instance)
    }
  }

  function observe(group: Group, { account: { instances }, at }: AccountPoll): void {
    const own = runsOf(group)
    const present = [
      ...own
        .filter(run => isGoing(run) || run.step === 'failed' || run.withdrawing)
        .flatMap(({ instance }) => instance ?? []),
      ...waiting.all().flatMap(there => (there.group === group.id ? there.instance : [])),
    ]
    // One that has gone counts up to this poll, so that the sum is never too low.
    const machinesNow = Object.fromEntries(
      Object.entries(group.machines).map(([instance, spent]) => [
        instance,
        spent.perHour > 0 ? settled(spent, at) : spent,
      ]),
    )
    for (const instance of present) {
      const spent = instances[instance]?.spent
      if (spent) machinesNow[instance] = { ...spent }
    }
    groups.putSoon({ ...group, machines: machinesNow })
    void guard({ ...group, machines: machinesNow }, own)
  }

  /** Goes on once a run has changed. */
  const ignore = store.onChange((after, before) => {
    if (after.accounts[account]?.runs === before.accounts[account]?.runs) return
    for (const { id, step } of groups.all()) if (step === 'going') loops.work(id)
  })
  ending.addEventListener('abort', ignore, { once: true })

  return {
    find: groups.find,
    isBusy: (project, except) =>
      groups
        .all()
        .some(group => group.project.id === project && group.id !== except && isBusy(group, runs.all())),
    async start({ name, project, settings, atOnce, keep }) {
      const id = `q${context.newId()}`
      const at = now()
      const reused = waiting.allFor(project.id, project.spec).slice(0, atOnce)
      const before = reused.reduce((sum, { instance }) => {
        const view = machines.viewOf(instance)
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
    stopsOf({ group: place, project }) {
      const group = groups.find(place?.id ?? '')
      if (!group) return project.stops
      const own = runsOf(group)
      const idle = project.stops.filter(({ when }) => when.kind === 'idle' || when.kind === 'away')
      const deadline = groupDeadline(withOneMore(group, now()), own, now())
      if (deadline === undefined) return idle
      const seconds = Math.max(60, Math.round(deadline - now()))
      return [...idle, { when: { kind: 'duration', seconds }, action: 'stop', asleep: true }]
    },
    settingOf({ group: place }) {
      const group = groups.find(place?.id ?? '')
      const number = {
        BERTH_RUN: String((place?.index ?? 0) + 1),
        BERTH_RUNS: String(group?.settings.length ?? 1),
      }
      return { ...group?.settings[place?.index ?? 0], ...number }
    },
    async stop(id) {
      const group = groups.get(id)
      if (group.step === 'going' || group.step === 'halted')
        await groups.intend(id, { step: 'stopped', problem: undefined, short: undefined, endedAt: now() })
      activity.add({ account, kind: 'user', text: `Stopped ${group.name}` })
      for (const run of runsOf(group)) if (isGoing(run)) await runs.cancel(run.id)
      loops.restart(id)
    },
    goOn: id => goOn(id, run => run.step === 'cancelled' || (run.step === 'failed' && wasStopped(run))),
    retry: (id, index) =>
      goOn(
        id,
        ({ step, group }) =>
          (step === 'failed' || step === 'cancelled') && (index === undefined || group?.index === index),
      ),
    async dismiss(id) {
      const group = groups.get(id)
      const own = runsOf(group)
      const kept = own.filter(run => run.step === 'failed' && machines.viewOf(run.instance) !== undefined)
      if (isBusy(group, own) || kept.length > 0) throw new BerthError(stillGoing(kept.length))
      for (const run of own) await runs.remove(run)
      await groups.remove(id)
    },
    onPoll(poll) {
      for (const group of groups.all()) {
        const isOver = group.step !== 'going' && groupRate(group) === 0 && !isBusy(group, runs.all())
        if (!isOver) observe(group, poll)
      }
      groups.show()
      for (const { id } of groups.all()) loops.work(id)
    },
    dueAt(after) {
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

/** Seconds by which a machine's own limit may differ from when the whole reaches its limit. */
const tolerance = { early: 30, late: 600 }

/** The group after one more machine at the agreed price, from `at` on. */
function withOneMore(group: Group, at: number): Group {
  const { price } = group.project
  if (price === undefined) return group
  return { ...group, machines: { ...group.machines, '': { micros: 0, at, perHour: price } } }
}

/** The run's id, the same whenever it is started, so that no kill makes two of it. */
function runIdOf({ id, attempts }: Group, index: number): string {
  const hash = createHash('sha256')
    .update(`${id} ${index} ${attempts[index] ?? 0}`)
    .digest('hex')
  return `x${hash.slice(0, 16)}`
}

/** Whether it failed because its machine was stopped, not because of its command. */
function wasStopped({ problem }: Run): boolean {
  return problem?.code === groupLimit || problem?.code === 'stopped'
}

/** `20261127-2212`, in universal time. */
function folderTime(at: number): string {
  return new Date(at * 1000).toISOString().slice(0, 16).replaceAll(/[-:]/g, '').replace('T', '-')
}

function groupView(group: Group, own: readonly Run[], now: number): GroupView {
  const {
    id,
    name,
    project,
    step,
    problem,
    settings,
    attempts,
    atOnce,
    keep,
    results,
    createdAt,
    endedAt,
    short,
  } = group
  const { most, seconds } = groupLimits(group)
  const at = Math.max(group.since.at, ...Object.values(group.machines).map(machine => machine.at))
  return {
    id,
    name,
    project: project.id,
    step,
    problem,
    settings,
    attempts,
    atOnce,
    keep,
    results,
    createdAt,
    endedAt,
    short,
    cost: { micros: groupCost(group, own, at), at, perHour: groupRate(group) },
    most: groupMost(group),
    deadline:
      step === 'going' && (most !== undefined || seconds !== undefined)
        ? groupDeadline(group, own, now)
        : undefined,
  }
}

const groupGoing = { code: 'group_going', message: 'It is still going on.' }
function stillGoing(kept: number): Problem {
  return kept === 0
    ? {
        code: 'still_running',
        message: 'It is still going on.',
        advice: 'Stop it first, or wait for its end.',
      }
    : {
        code: 'still_running',
        message: `${counted(kept, 'failed run')} still ${kept === 1 ? 'has its machine' : 'have their machines'}.`,
        advice: 'Go on with them, or destroy their machines first.',
      }
}
