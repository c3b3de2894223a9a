import * as v from 'valibot'
import { type Limit, RentalLimits } from '#shared/automation/limit.ts'
import { isCutShort, isGoing, RunFields, RunId, RunStep } from '#shared/automation/run.ts'
import { grownFrom } from '#shared/derived.ts'
import { InstanceId, OfferId } from '#shared/ids.ts'
import { limitsBeforeStop } from '#shared/project/before-stop.ts'
import { dearestOf, keepingOf, limitsAt, mostOf, resultsOf } from '#shared/project/bounds.ts'
import { ProjectId } from '#shared/project/project.ts'
import { remindsWithin } from '#shared/project/project-defaults.ts'
import { Keeping, type ProjectSpec } from '#shared/project/spec.ts'
import type { Micros } from '#shared/spending/money.ts'
import { StoredSpender } from '#shared/spending/spender.ts'
import { StoredProblem } from '../bridge/problems.ts'
import { Leave } from '../departures/record.ts'

/** The agreed terms of a project's run, or of all runs of a sweep. */
export const AgreedProject = v.object({
  id: ProjectId,
  /** The project's folder, an absolute path on this computer. */
  folder: v.string(),
  /** The text of the file, and its parsed form. */
  text: v.string(),
  spec: v.custom<ProjectSpec>(value => typeof value === 'object' && value !== null),
  /** The offer to try first, as the user chose. */
  offer: v.optional(OfferId),
  limits: RentalLimits,
  /** Micro-dollars per hour of the machine shown when the user agreed. */
  price: v.optional(v.number()),
  /** Micro-dollars by the plan: in all, and of that for the disk of a failed run's machine, a new volume and machines that it left. */
  most: v.optional(v.number()),
  keptCost: v.optional(v.number()),
  volumeCost: v.optional(v.number()),
  leftCost: v.optional(v.number()),
  /** How long its machine is kept if it fails; by the file if absent. */
  keeping: v.optional(Keeping),
  /** Files that look like secrets and are sent nevertheless. */
  secretFiles: v.array(v.string()),
  /** Who pays for its machines. */
  by: v.optional(StoredSpender),
})

/** A run's place among the machines that run one command together. */
const Node = v.object({
  /** The run of the first node, which stands for all of them: its own id where it is that. */
  of: RunId,
  /** From 0. */
  rank: v.number(),
  count: v.number(),
  /** Its address in their network, and the network interface that has it. */
  address: v.optional(v.string()),
  link: v.optional(v.string()),
  /** Of the first node: their network, once it was chosen, and the offers with their prices, by rank. */
  network: v.optional(
    v.object({
      name: v.string(),
      cluster: v.number(),
      offers: v.array(v.object({ id: OfferId, price: v.number() })),
      isMade: v.boolean(),
    }),
  ),
  /** Of the first node: the clusters that refused a network. */
  refused: v.optional(v.array(v.number())),
})

/** A run as stored: a command on a machine; a project's run has its folder and machine. Output is in separate files. */
export const Run = v.object({
  ...RunFields.entries,
  /** For a run in a sweep, it is stored with the sweep. */
  project: v.optional(AgreedProject),
  node: v.optional(Node),
  /** Its watch rents again with another run, so a start that fails is only noted in Activity. */
  rentedAgain: v.optional(v.boolean()),
  /** The name of the download in `into`, once it has begun. */
  as: v.optional(v.string()),
  afterwardsIfStuck: v.boolean(),
  /** Why it fails, also while its machine is being stopped before that. */
  problem: v.optional(StoredProblem),
  /** The failure that is reported once the results are here. */
  outcome: v.optional(v.object({ failedAt: RunStep, problem: StoredProblem })),
  /** The user ended its command, whose exit code then means nothing. */
  endedByUser: v.optional(v.boolean()),
  /** The programs on the machine with its set-up and its command, and whether the present one was started. */
  setupProgram: v.optional(RunId),
  program: v.optional(RunId),
  begun: v.optional(v.boolean()),
  /** The set-up has succeeded on the present machine. */
  isSetUp: v.optional(v.boolean()),
  /** When there was last output, and load on the GPUs. */
  outputAt: v.optional(v.number()),
  loadAt: v.optional(v.number()),
  fetched: v.optional(v.boolean()),
  /** Since when its folder cannot be downloaded without a connection, and whether the user was alerted. */
  unreachedSince: v.optional(v.number()),
  unreachedAlerted: v.optional(v.boolean()),
  /** Since when its folder has been changing while it is downloaded, epoch seconds of this computer. */
  changingSince: v.optional(v.number()),
  interrupted: v.optional(v.boolean()),
  watchdogStale: v.optional(v.boolean()),
  /** When the machine of a failed run is destroyed, or the user reminded of it, in epoch seconds. */
  keptUntil: v.optional(v.number()),
  /** The same for a reminder before it is destroyed. */
  remindAt: v.optional(v.number()),
  /** Its cost passed the maximum while nobody could be reminded: its machine is destroyed then, and its user knows. */
  lastCall: v.optional(v.number()),
  /** Micro-dollars that it had cost when it failed, with its machine stopped. */
  costThen: v.optional(v.number()),
  /** Seconds for which its machine waits for the next run. */
  keep: v.optional(v.number()),
  /** Its machine waited for it, and its command was not started there yet. */
  reuses: v.optional(v.boolean()),
  /**
   * While it waits for an offer within its price: since when, when the market is searched again, in epoch seconds, and what
   * the cheapest offer costs that only the price keeps out, in micro-dollars per hour.
   */
  seeking: v.optional(v.object({ since: v.number(), nextAt: v.number(), cheapest: v.optional(v.number()) })),
  /** Since when its command knows that its machine is about to be stopped, and until when the stop waits for it. */
  told: v.optional(v.object({ since: v.number(), until: v.number() })),
  /** Micro-dollars of the attempts to rent that failed, and of that what its latest rental has added. */
  attemptCost: v.optional(v.number()),
  counted: v.optional(v.object({ rental: v.string(), micros: v.number() })),
  /** Whether a retry has to start the machine first. */
  starting: v.optional(v.boolean()),
  /** It was cancelled, and its machine or rental still has to be ended. */
  withdrawing: v.optional(v.boolean()),
  /** When it begins, in epoch seconds; absent once it has, or where it began at once. */
  startsAt: v.optional(v.number()),
  /** Of one that runs every day: the next one is on the list. */
  followed: v.optional(v.boolean()),
  /** Its user gave it up, and its command has its time before that. */
  givenUp: v.optional(v.boolean()),
  /** Since when its user wants it on another machine. */
  movingSince: v.optional(v.number()),
  /** Micro-dollars that its next machine leaves to those before it, which run until their files are taken. */
  reserved: v.optional(v.number()),
  /** Machines that it left, which still have to be destroyed, or kept for what only they have. */
  leaving: v.optional(v.array(v.union([InstanceId, Leave]))),
  /** Micro-dollars of machines that it left and that were kept, by instance. */
  leftCosts: v.optional(v.record(v.string(), v.number())),
  /** The absolute path of its project's folder on the present machine. */
  place: v.optional(v.string()),
  /** Files of its project's folder were sent, so that it isn't empty. */
  hadFiles: v.optional(v.boolean()),
  /** Seconds of training that only the present machine has of those before it. */
  brought: v.optional(v.number()),
  /** While the newer results of its last machine are copied to the present one: since when, and until when at most. */
  copying: v.optional(v.object({ since: v.number(), until: v.number() })),
  /** When results were last downloaded, and when the last download of all of them began. */
  checkpointAt: v.optional(v.number()),
  wholeAt: v.optional(v.number()),
  /** The user was alerted that this was long ago. */
  overdueAlerted: v.optional(v.boolean()),
  /** When its command began on the present machine, and when a poll last saw it run there. */
  begunAt: v.optional(v.number()),
  /** The machine on which it began last. */
  begunOn: v.optional(InstanceId),
  seenAt: v.optional(v.number()),
  /** Micro-dollars per hour of the machine then. */
  paidPerHour: v.optional(v.number()),
  /** Micro-dollars: the cost of earlier machines, and of the present one at its last view. */
  spentBefore: v.optional(v.number()),
  spent: v.optional(v.object({ micros: v.number(), at: v.number(), perHour: v.number() })),
})
export type Run = v.InferOutput<typeof Run>

/** What is said of a run when it begins. */
export type NewRun = Pick<
  Run,
  | 'instance'
  | 'rental'
  | 'rentedAgain'
  | 'name'
  | 'command'
  | 'project'
  | 'fetch'
  | 'into'
  | 'afterwards'
  | 'watchdog'
  | 'stuckAfter'
  | 'startsAt'
  | 'afterwardsIfStuck'
  | 'keep'
>
/** A run of a project. */
export type ProjectRun = Run & { project: v.InferOutput<typeof AgreedProject> }

export function isOfProject(run: Run): run is ProjectRun {
  return run.project !== undefined
}

/** Whether it is in progress, and no other run of its project may be. */
export function isBusy(run: Run): boolean {
  return isGoing(run) && run.startsAt === undefined
}

/**
 * Whether its machine has nothing that the run still needs, and may wait for the next run. In a sweep that is so, too,
 * where the command failed, once all results are here.
 */
export function canReuseMachine({ keep, sweep, problem, outcome, interrupted, code }: Run): boolean {
  if (keep === undefined || interrupted) return false
  const hasFailed = sweep !== undefined && code !== undefined && outcome?.problem.code === problem?.code
  return problem === undefined || hasFailed
}

/** Seconds that a command which had its time before a stop is not followed: its machine is about to be stopped. */
const restsFor = 120

/** Whether its command was told of a stop, and says nothing of its run by the way it ends. */
export function isToldOfStop({ told, step }: Pick<Run, 'told' | 'step'>, now: number): boolean {
  return step === 'running' && told !== undefined && now < told.until + restsFor
}

/** Whether its command runs, and has time before a stop. */
export function asksForNotice({ step, begun, project }: Run): boolean {
  return step === 'running' && begun === true && project?.spec.before_stop !== undefined
}

/** Whether it is a machine of several, and not the first, whose run stands for all. */
export function isWorker({ node }: Run): boolean {
  return node !== undefined && node.rank > 0
}

/** The programs on its machine whose output is stored, the latest last. */
export function programsOf({ setupProgram, program }: Run): string[] {
  return [setupProgram, program].flatMap(id => id ?? [])
}

/** The program whose output `seen`, `dropped` and `lastLine` describe. */
export function latestProgram(run: Run): string | undefined {
  return programsOf(run).at(-1)
}

/** Whether something is to be downloaded at its end. */
export function wantsResults({ project, fetch }: Run): boolean {
  return project ? resultsOf(project.spec).length > 0 : fetch !== undefined
}

/** Whether a project's command has ended as it should, or as its user wants, and only its results are to be downloaded. */
export function isOnlyToFetch({ project, step, outcome }: Run): boolean {
  return project !== undefined && step === 'fetching' && outcome === undefined
}

/** Whether a command's folder is not on this computer yet, and would be lost with the instance. */
export function hasUndownloadedResults(run: Run): boolean {
  if (run.fetch === undefined || run.fetched || run.step === 'waiting') return false
  return isGoing(run) || (run.step === 'failed' && run.startedAt !== undefined)
}

/** How long the machine of a project's run is kept if it fails: as the user chose, else by its file. */
export function keepingFor({ project: { keeping, spec } }: ProjectRun): Keeping {
  return keeping ?? keepingOf(spec)
}

/** A run's cost up to a moment of the account's time, as far as it has its own machine. */
export function runCostBy({ spentBefore = 0, leftCosts = {}, spent, endedAt }: Run, at: number): Micros {
  const before = Object.values(leftCosts).reduce((sum, cost) => sum + cost, spentBefore)
  if (!spent) return before
  const until = Math.min(at, endedAt ?? at)
  return before + spent.micros + grownFrom(spent, until)
}

/** The same without the machines that it left and that were kept. */
export function ownCostBy(run: Run, at: number): Micros {
  return runCostBy({ ...run, leftCosts: {} }, at)
}

/**
 * The stops of a run's next machine: what is left of its highest cost, which covers all its machines and attempts.
 * `head`: of several machines the first one, whose network says what each costs: each has its share.
 */
export function limitsLeft(
  run: ProjectRun,
  limits: readonly Limit[],
  at: number,
  head: Run | undefined,
): Limit[] {
  const { most, sweep, node, project } = run
  if (sweep) return [...limits]
  if (!node)
    return most === undefined
      ? [...limits]
      : limitsAt(limits, most - (run.reserved ?? 0) - runCostBy(run, at))
  const prices = head?.node?.network?.offers.map(({ price }) => price) ?? []
  const whole = head?.most ?? mostOf(project.spec, limits, prices)
  const sum = prices.reduce((total, price) => total + price, 0)
  const share = sum > 0 ? (prices[node.rank] ?? 0) / sum : 1 / node.count
  return whole === undefined ? [...limits] : limitsAt(limits, Math.floor(whole * share))
}

/** The limits of a run's machine, which leave the command its time before a stop. */
export function machineLimits(
  { project: { spec, price }, spent, sweep }: ProjectRun,
  limits: readonly Limit[],
): Limit[] {
  // The whole has left that out.
  if (sweep) return [...limits]
  return limitsBeforeStop(limits, spec.before_stop, dearestOf(spec, price) ?? spent?.perHour)
}

/**
 * What a run may cost in all, the disk of its stopped machine included; undefined where that is not limited. A run that was
 * stopped too late, as after a sleep, keeps its files for as long as any other. `beside`: the cost of its other nodes.
 */
export function mostInAll(
  { most, costThen = 0, project }: Pick<Run, 'most' | 'costThen' | 'project'>,
  beside: Micros = 0,
): Micros | undefined {
  if (most === undefined || project?.keptCost === undefined) return undefined
  return Math.max(most, costThen + beside) + project.keptCost + (project.leftCost ?? 0)
}

/** When the user is reminded of a stopped machine, and when it is destroyed. `at`: since when it is kept. */
export function keptFrom({ seconds, destroys }: Keeping, at: number): Pick<Run, 'keptUntil' | 'remindAt'> {
  const soon = at + Math.min(seconds, remindsWithin)
  if (!destroys) return { keptUntil: soon, remindAt: undefined }
  return { keptUntil: at + seconds, remindAt: seconds > remindsWithin ? soon : undefined }
}

/** Whether it ended before its command did, or was given up until its next step. */
export function isInterrupted(run: Pick<Run, 'step' | 'problem' | 'givenUp'>): boolean {
  return run.givenUp === true || isCutShort(run)
}

/** Whether it can continue on another machine while the present one runs. */
export function isMovable(run: Run): run is ProjectRun {
  const { step, begun, project, node } = run
  return step === 'running' && begun === true && project !== undefined && !node
}
