import * as v from 'valibot'
import { isGoing } from '#shared/automation/run.ts'
import { latestRuns, SweepFields, type SweepView } from '#shared/automation/sweep.ts'
import type { Waiting } from '#shared/automation/waiting.ts'
import { noticeCost, noticeOf } from '#shared/project/before-stop.ts'
import { dearestOf, mostOf, mostUntilStopped, pricesOf } from '#shared/project/bounds.ts'
import type { Micros } from '#shared/spending/money.ts'
import type { AccountContext } from '../account-context.ts'
import { StoredProblem } from '../bridge/problems.ts'
import { AgreedProject, type Run } from '../runs/model.ts'
import { type Collection, openCollection, type Rescue } from '../storage/collection.ts'

/** A machine's cost: `micros` at `at`, growing by `perHour`. */
const Spent = v.object({ micros: v.number(), at: v.number(), perHour: v.number() })

/**
 * Runs of a project that were confirmed together, as stored: their settings and limits, and how often each was run. The runs
 * themselves record which have begun. Times in epoch seconds of the account's time, money in micro-dollars.
 */
export const Sweep = v.object({
  ...SweepFields.entries,
  /** Its stops limit the whole, but for idleness, which is of each machine. */
  project: AgreedProject,
  problem: v.optional(StoredProblem),
  /** Since when its limits count, what it had cost then, and how many of its runs had failed. */
  since: v.object({ at: v.number(), micros: v.number(), failed: v.number() }),
  /** The cost of its machines by instance, including gone ones. */
  machines: v.record(v.string(), Spent),
  /** What it had cost when its machines were stopped at its limit. */
  costThen: v.optional(v.number()),
  /** The cost of its failed rental attempts that no run counts. */
  attemptCost: v.number(),
  /** Why no further machine was rented, since when, and when that is tried again. */
  short: v.optional(
    v.object({ problem: StoredProblem, since: v.optional(v.number()), nextTryAt: v.number() }),
  ),
})
export type Sweep = v.InferOutput<typeof Sweep>

/** The cost of a machine that the group has left: up to that moment, and growing no more. */
export function costUntil({ micros: paid, at: since, perHour }: v.InferOutput<typeof Spent>, at: number) {
  return { micros: paid + Math.max(0, Math.floor(((at - since) * perHour) / 3600)), at, perHour: 0 }
}

/** A group's cost up to a moment, including waiting machines and failed attempts. */
export function sweepCost({ machines, attemptCost }: Sweep, runs: readonly Run[], at: number): Micros {
  const perMachine = Object.values(machines).map(spent => costUntil(spent, at).micros)
  return [...perMachine, ...runs.map(run => run.attemptCost ?? 0)].reduce(
    (sum, cost) => sum + cost,
    attemptCost,
  )
}

/** The total cost of its machines, micro-dollars per hour. */
export function sweepRate({ machines }: Sweep): Micros {
  return Object.values(machines).reduce((sum, { perHour }) => sum + perHour, 0)
}

/** Micro-dollars and seconds until its machines are stopped, as agreed for the whole. */
export function sweepLimits({ project, atOnce }: Pick<Sweep, 'project' | 'atOnce'>): {
  most?: Micros
  seconds?: number
} {
  const { spec, limits, price } = project
  const seconds = limits.flatMap(({ when }) => (when.kind === 'duration' ? when.seconds : []))[0]
  return { most: mostUntilStopped(project) ?? mostOf(spec, limits, pricesOf(price, atOnce)), seconds }
}

/** The same less what the commands' time before a stop takes, which is part of it. */
export function sweepStops(sweep: Pick<Sweep, 'project' | 'atOnce'>): { most?: Micros; seconds?: number } {
  const { most, seconds } = sweepLimits(sweep)
  const { before_stop: before } = sweep.project.spec
  if (!before) return { most, seconds }
  const reserve = sweep.atOnce * noticeCost(before, dearestOf(sweep.project.spec, sweep.project.price))
  return {
    most: most === undefined ? undefined : Math.max(0, most - reserve),
    seconds: seconds === undefined ? undefined : Math.max(60, seconds - noticeOf(before).seconds),
  }
}

/** When all machines of a group are stopped at the latest, if they cost as much as now until then. */
export function sweepDeadline(sweep: Sweep, runs: readonly Run[], now: number): number | undefined {
  const { most, seconds } = sweepStops(sweep)
  const moments = seconds === undefined ? [] : [sweep.since.at + seconds]
  const perHour = sweepRate(sweep)
  if (most !== undefined && perHour > 0) {
    const left = sweep.since.micros + most - sweepCost(sweep, runs, now)
    moments.push(now + Math.max(0, (left / perHour) * 3600))
  }
  return moments.length === 0 ? undefined : Math.min(...moments)
}

/** The most that a group costs from a start on, as agreed; undefined without a limit. */
function agreedMost(sweep: Sweep): Micros | undefined {
  const { most } = sweepLimits(sweep)
  const { volumeCost = 0, keptCost = 0, leftCost = 0 } = sweep.project
  return most === undefined ? undefined : most + keptCost + volumeCost + leftCost
}

/** The most that it costs in all, as shown; undefined without a limit. */
export function sweepMost(sweep: Sweep): Micros | undefined {
  const most = agreedMost(sweep)
  return most === undefined ? undefined : sweep.since.micros + most
}

/** What its machines may cost in all, the disks of stopped ones included; undefined where that is not limited. */
export function sweepMostInAll(sweep: Sweep): Micros | undefined {
  const { since, project, costThen = 0 } = sweep
  const { most } = sweepLimits(sweep)
  if (most === undefined || project.keptCost === undefined) return undefined
  return Math.max(since.micros + most, costThen) + project.keptCost + (project.leftCost ?? 0)
}

/** Whether any of its runs is unfinished. */
export function isSweepBusy({ id, step }: Sweep, runs: readonly Run[]): boolean {
  return step === 'going' || runs.some(run => run.sweep?.id === id && isGoing(run))
}

/** What is left of a sweep that cannot be read: it starts no other run, and those that have begun keep their limits. */
const rescueSweep: Rescue<Sweep> = {
  keep: sweep => (sweep.step === 'going' ? { ...sweep, step: 'halted', problem: notRead } : sweep),
}
const notRead = {
  code: 'not_read',
  message: 'Its record on this computer couldn’t be read as a whole.',
  advice: 'Check its runs, then start it again.',
}

/** The sweeps of an account as stored, which the stored runs need, too. `runs`: all runs of the account. */
export function openStoredSweeps(
  context: AccountContext,
  runs: () => readonly Run[],
): Promise<Collection<Sweep, string>> {
  return openCollection(context, {
    name: 'sweeps',
    schema: Sweep,
    rescue: rescueSweep,
    key: ({ id }) => id,
    missing: { code: 'no_such_sweep', message: 'That sweep is no longer on the list.' },
    view: all => ({
      sweeps: Object.fromEntries(
        all.map(sweep => [
          sweep.id,
          sweepView(
            sweep,
            runs().filter(run => run.sweep?.id === sweep.id),
            context.now(),
          ),
        ]),
      ),
    }),
  })
}

function sweepView(sweep: Sweep, own: readonly Run[], now: number): SweepView {
  const {
    project,
    since,
    machines,
    attemptCost: _tried,
    costThen: _costThen,
    short: _short,
    ...shown
  } = sweep
  const { most, seconds } = sweepLimits(sweep)
  const at = Math.max(since.at, ...Object.values(machines).map(machine => machine.at))
  const isLimited = shown.step === 'going' && (most !== undefined || seconds !== undefined)
  const deadline = isLimited ? sweepDeadline(sweep, own, now) : undefined
  const isTime = seconds !== undefined && deadline === since.at + (sweepStops(sweep).seconds ?? 0)
  const limit = isTime ? { seconds } : most === undefined ? undefined : { micros: most }
  return {
    ...shown,
    project: project.id,
    cost: { micros: sweepCost(sweep, own, at), at, perHour: sweepRate(sweep) },
    most: sweepMost(sweep),
    deadline,
    agreed: { price: project.price, most: agreedMost(sweep) },
    ...(deadline !== undefined && limit && { limit }),
    waiting: sweepWaiting(sweep, own),
  }
}

/** What the next run of a sweep waits for, while it has not begun; undefined where runs in progress say it. */
export function sweepWaiting(sweep: Sweep, own: readonly Run[]): Waiting | undefined {
  const { step, short, createdAt } = sweep
  const latest = latestRuns(sweep, own)
  if (step !== 'going' || !latest.includes(undefined)) return undefined
  if (short) {
    const { problem, nextTryAt, since = nextTryAt } = short
    return { for: 'another', since, problem, nextTryAt }
  }
  if (latest.some(run => run && isGoing(run))) return undefined
  const ends = own.flatMap(({ endedAt }) => endedAt ?? [])
  return {
    for: own.some(({ withdrawing }) => withdrawing) ? 'end' : 'machine',
    since: Math.max(createdAt, ...ends),
  }
}
