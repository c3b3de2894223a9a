import { stopperWords } from './automation/limit-words.ts'
import { type AllToStop, starting, startsUnlimited, stoppersOf } from './automation/limits-that-block.ts'
import { isGoing, isProjectRun, type RunView } from './automation/run.ts'
import type { SweepView } from './automation/sweep.ts'
import { isBeforeRenting } from './automation/waiting.ts'
import { type Danger, type DeletionSubjects, deletions, noUndo, type Question } from './deletions.ts'
import { rate } from './format/money.ts'
import { instanceName, named, shortInstanceName } from './format/name.ts'
import { counted, gigabytes } from './format/size.ts'
import { duration } from './format/time.ts'
import type { InstanceView, UndoableAction } from './instance/instance.ts'
import { rentedName } from './market/rental-view.ts'
import type { PlanCosts } from './project/plan-costs.ts'
import { beyondCredit, type MoreCost } from './spending/beyond-credit.ts'
import type { Micros } from './spending/money.ts'
import { paidBackWords, prepayQuestion } from './spending/prepaying.ts'
import { costOf } from './spending/spend-words.ts'
import type { AccountView } from './state.ts'

export type { Question } from './deletions.ts'

/** What each dangerous action is done to. */
interface Subjects extends DeletionSubjects {
  stop: { instances: readonly InstanceView[] }
  destroy: { instances: readonly InstanceView[] }
  /** `on`: ` on Lab` where there are several accounts. */
  stopEverything: { all: AllToStop; on: string }
  start: { instances: readonly InstanceView[] }
  reboot: { instances: readonly InstanceView[] }
  /** Micro-dollars per hour; `high`: that it is far above the minimum. */
  bid: { instance: InstanceView; bid: Micros; high: string | undefined }
  /** Dollars ahead. */
  prepay: { instance: InstanceView; amount: number }
  rent: RentTerms
  startRun: Pick<PlanCosts, 'sum' | 'longest'>
  endRun: { run: RunView; afterwards: string }
  cancelRun: { run: RunView }
  moveRun: { run: RunView }
  cancelSweep: { sweep: SweepView }
}
export type DangerousAction = keyof Subjects

/** The terms of a rental that may need a question. */
export interface RentTerms {
  /** Undefined while its price is unknown. */
  cost: MoreCost | undefined
  /** The service doesn't report its price. */
  isUnpriced: boolean
  /** Dollars per hour as typed, and that it is far above the minimum. */
  bid: string
  highBid: string | undefined
  /** Whether a limit would stop it at once. Retries wait for such a limit instead. */
  meetsLimits: boolean
}

/** Every action that spends or loses something. All ways to it read its question and its undo here. */
export const dangers: { [Action in DangerousAction]: Danger<Subjects[Action]> } = {
  stop: { undo: true, question: stopQuestion },
  destroy: { undo: false, question: destroyQuestion },
  stopEverything: { undo: false, question: stopEverythingQuestion },
  start: { undo: true, question: startQuestion },
  reboot: { undo: true, question: rebootQuestion },
  bid: { undo: false, question: bidQuestion },
  prepay: { undo: false, question: prepayQuestion },
  rent: { undo: false, question: rentQuestion },
  startRun: { undo: false, question: startRunQuestion },
  endRun: { undo: false, question: endRunQuestion },
  cancelRun: { undo: false, question: cancelRunQuestion },
  moveRun: { undo: false, question: moveRunQuestion },
  cancelSweep: { undo: false, question: cancelSweepQuestion },
  ...deletions,
}

interface UndoableWords {
  /** The state shown until it is sent. */
  doing: string
  /** What is true once it is undone. */
  undone: string
  /** The words before the reason where it fails. */
  name: string
}

/** The words of the actions that can be undone. */
export const undoableWords: Readonly<Record<UndoableAction, UndoableWords>> = {
  stop: { doing: 'Stopping', undone: 'keeps running', name: 'Stop' },
  start: { doing: 'Starting', undone: 'stays stopped', name: 'Start' },
  reboot: { doing: 'Rebooting', undone: 'was not rebooted', name: 'Reboot' },
}

/** The runs that end where these instances stop, are destroyed or reboot. */
export function runsEndingWith(
  runs: Readonly<Record<string, RunView>>,
  instances: readonly Pick<InstanceView, 'id'>[],
): RunView[] {
  const ids = new Set(instances.map(({ id }) => id))
  const isOn = (run: RunView): boolean =>
    (run.instance !== undefined && ids.has(run.instance)) ||
    (isProjectRun(run) && (run.nodes ?? []).some(isOn))
  return Object.values(runs).filter(
    run => isGoing(run) && run.step !== 'waiting' && run.step !== 'ending' && isOn(run),
  )
}

/** `A run on it ends before it has finished: train.`; empty where none does. */
function endingRuns({ runs }: AccountView, instances: readonly InstanceView[]): string[] {
  const ending = runsEndingWith(runs, instances)
  if (ending.length === 0) return []
  const on = instances.length === 1 ? 'on it' : 'on them'
  const names = named(ending.map(({ name }) => name))
  if (ending.length === 1) return [`A run ${on} ends before it has finished: ${names}.`]
  return [`${ending.length} runs ${on} end before they have finished: ${names}.`]
}

function listOf(line: string | undefined): string[] {
  return line === undefined ? [] : [line]
}

/** `Stop llama #4711`, `Stop 5 instances`. */
export function actionOn(verb: string, instances: readonly InstanceView[]): string {
  const [first] = instances
  if (first && instances.length === 1) return `${verb} ${shortInstanceName(first)}`
  return `${verb} ${counted(instances.length, 'instance')}`
}

function titleOf(verb: string, instances: readonly InstanceView[]): string {
  const [first] = instances
  return `${first && instances.length === 1 ? `${verb} ${instanceName(first)}` : actionOn(verb, instances)}?`
}

/** One stop can be undone, so it is asked about only where it ends a run. */
function stopQuestion(account: AccountView, { instances }: Subjects['stop']): Question | undefined {
  const runs = endingRuns(account, instances)
  const [first] = instances
  if (!first || (instances.length === 1 && runs.length === 0)) return undefined
  const disk = instances.length === 1 ? first.diskPricePerHour : undefined
  return {
    title: titleOf('Stop', instances),
    verb: actionOn('Stop', instances),
    lines: [
      ...runs,
      instances.length > 1
        ? 'Files are kept; disks are still billed.'
        : `Files are kept; the disk is ${disk === undefined ? 'still billed' : `billed at ${rate(disk)}`}.`,
    ],
    grave: false,
  }
}

function destroyQuestion(
  account: AccountView,
  { instances }: Subjects['destroy'],
  now: number,
): Question | undefined {
  const [first] = instances
  if (!first) return undefined
  const disk = first.disk?.used ?? first.disk?.size
  return {
    title: titleOf('Destroy', instances),
    verb: actionOn('Destroy', instances),
    lines: [
      ...endingRuns(account, instances),
      instances.length > 1
        ? `Everything on them is lost: their disks with all files. ${noUndo}`
        : `Everything on it is lost: ${disk === undefined ? 'its disk' : `its disk (${gigabytes(disk)})`} ` +
          `with all files, its settings and everything running on it. ${noUndo}`,
      ...paidBackWords(instances, now),
      `You stop paying ${costOf(instances)}.`,
    ],
    grave: true,
  }
}

/** Undefined where nothing runs. */
function stopEverythingQuestion(
  account: AccountView,
  { all: { instances, rentals, watches }, on }: Subjects['stopEverything'],
): Question | undefined {
  const many = [
    instances.length > 0 && counted(instances.length, 'instance'),
    rentals.length > 0 && counted(rentals.length, 'rental'),
    watches.length > 0 && counted(watches.length, 'watch', 'watches'),
  ].filter(Boolean)
  if (many.length === 0) return undefined
  const [isOne, watchesOne] = [rentals.length === 1, watches.length === 1]
  const renting = named(rentals.map(rental => rental.label ?? rentedName(rental)))
  const lines = [
    ...endingRuns(account, instances),
    instances.length > 0 && 'Files are kept; disks are still billed.',
    rentals.length > 0 &&
      `${isOne ? 'A rental in progress is' : 'Rentals in progress are'} cancelled, ` +
        `and the instances rented for ${isOne ? 'it' : 'them'} so far are destroyed: ${renting}.`,
    watches.length > 0 &&
      `${watchesOne ? 'A watch that rents automatically is' : 'Watches that rent automatically are'} paused: ` +
        `${named(watches.map(({ name }) => name))}.`,
  ]
  return {
    title: `Stop ${many.join(' and ')}${on}?`,
    verb: `Stop ${many.join(' and ')}`,
    lines: lines.filter(line => line !== false),
    grave: rentals.length > 0,
  }
}

/** A start is asked about where credit or limits don't let it run, where nothing would stop it, and for several at once. */
function startQuestion(
  account: AccountView,
  { instances }: Subjects['start'],
  now: number,
): Question | undefined {
  const [first] = instances
  if (!first) return undefined
  const more = instances.reduce((sum, instance) => sum + starting(instance).more, 0)
  const beyond = beyondCredit(account, { perHour: more, endsAfter: endsAfter(account, instances) }, now)
  const stoppers = new Map(
    instances.flatMap(one => stoppersOf(account, starting(one), now)).map(limit => [limit.id, limit]),
  )
  const unlimited = instances.filter(({ id }) => startsUnlimited(account, id)).length
  const lines = [...listOf(beyond?.why), ...[...stoppers.values()].map(stopperWords)]
  if (instances.length === 1 && unlimited > 0) lines.push('It has no limit, so it runs until you stop it.')
  if (lines.length === 0 && instances.length === 1) return undefined
  return {
    title: titleOf('Start', instances),
    verb: actionOn('Start', instances),
    lines,
    grave: beyond !== undefined,
  }
}

/** Seconds after which a limit on its time stops each of them; undefined where one has none. */
function endsAfter({ limits }: AccountView, instances: readonly InstanceView[]): number | undefined {
  const each = instances.map(({ id }) => {
    const seconds = Object.values(limits).flatMap(({ instance, when }) =>
      instance === id && when.kind === 'duration' ? [when.seconds] : [],
    )
    return seconds.length === 0 ? undefined : Math.min(...seconds)
  })
  return each.every(one => one !== undefined) ? Math.max(...each) : undefined
}

/** The restart of a crashed one is a start, too. */
function rebootQuestion(
  account: AccountView,
  { instances }: Subjects['reboot'],
  now: number,
): Question | undefined {
  const crashed = instances.filter(({ state }) => state === 'crashed')
  const start = startQuestion(account, { instances: crashed }, now)
  const runs = endingRuns(account, instances)
  if (runs.length === 0 && !start) return undefined
  const verb = crashed.length > 0 ? 'Restart' : 'Reboot'
  return {
    title: titleOf(verb, instances),
    verb: actionOn(verb, instances),
    lines: [...runs, ...(start?.lines ?? []), 'Files are kept.'],
    grave: start?.grave ?? false,
  }
}

/** A bid is asked about where it is far too high, and where credit or limits don't let the instance run. */
function bidQuestion(
  account: AccountView,
  { instance, bid, high }: Subjects['bid'],
  now: number,
): Question | undefined {
  const more = Math.max(0, bid + (instance.diskPricePerHour ?? 0) - instance.costPerHour)
  const beyond = beyondCredit(account, { perHour: more, endsAfter: endsAfter(account, [instance]) }, now)
  const stoppers = more > 0 ? stoppersOf(account, { instance: instance.id, more }, now) : []
  const lines = [...listOf(high), ...listOf(beyond?.why), ...stoppers.map(stopperWords)]
  if (lines.length === 0) return undefined
  return { title: 'Bid this much?', verb: `Bid ${rate(bid)}`, lines, grave: true }
}

/** A rental is asked about where credit or limits say no, and where its price is unknown or probably a typo. */
function rentQuestion(account: AccountView, terms: RentTerms, now: number): Question | undefined {
  const { cost, isUnpriced, bid, highBid, meetsLimits } = terms
  const beyond = cost && beyondCredit(account, cost, now)
  const more = cost?.perHour ?? (isUnpriced ? 0 : undefined)
  const stoppers = meetsLimits && more !== undefined ? stoppersOf(account, { more }, now) : []
  const lines = [
    ...listOf(beyond?.why),
    ...stoppers.map(stopperWords),
    ...listOf(highBid),
    ...listOf(isUnpriced ? unpriced : undefined),
  ]
  const verb = beyond ? creditVerb('Rent', beyond.lasts) : highBid === undefined ? 'Rent' : `Bid $${bid}/h`
  if (beyond) return { title: 'Rent beyond your credit?', verb, lines, grave: true }
  if (stoppers.length > 0) return { title: 'Rent against your limit?', verb, lines, grave: true }
  if (highBid) return { title: 'Bid this much?', verb, lines, grave: true }
  return isUnpriced ? { title: 'Rent at an unknown price?', verb, lines, grave: true } : undefined
}

/** `Rent for 18 min of credit`. `lasts`: seconds that the credit lasts. */
function creditVerb(verb: string, lasts: number): string {
  return lasts < 60 ? `${verb} without credit` : `${verb} for ${duration(lasts)} of credit`
}

/** A run is asked about where the credit doesn’t pay for its machines. A limit that would stop them holds them back. */
function startRunQuestion(
  account: AccountView,
  { sum, longest }: Subjects['startRun'],
  now: number,
): Question | undefined {
  const beyond = beyondCredit(account, { perHour: sum, endsAfter: longest }, now)
  if (!beyond) return undefined
  return {
    title: 'Run beyond your credit?',
    verb: creditVerb('Run', beyond.lasts),
    lines: [beyond.why],
    grave: true,
  }
}

const unpriced =
  'The service doesn’t report this machine’s price, so limits in dollars can’t work. ' +
  'Berth only sees your credit fall. The service’s own page may show the price.'

function endRunQuestion(_account: AccountView, { run, afterwards }: Subjects['endRun']): Question {
  const verb = run.step !== 'waiting' && run.instance !== undefined ? 'End' : 'Don’t run'
  return { title: `${verb} ${run.name}?`, verb, lines: [afterwards], grave: true }
}

function moveRunQuestion({ instances }: AccountView, { run }: Subjects['moveRun']): Question {
  const machine = instances[run.instance ?? '']
  const name = machine ? instanceName(machine) : 'the machine'
  const price = machine?.pricePerHour === undefined ? '' : ` at ${rate(machine.pricePerHour)}`
  return {
    title: `Move ${run.name} to another machine?`,
    verb: 'Move',
    lines: [
      'Berth ends the command, rents another machine, and starts the command there with the results so far.',
      `You pay for ${name}${price} until they are there, 30 minutes at most. Then it’s destroyed. The run’s highest cost stays the same.`,
    ],
    grave: true,
  }
}

/** The machines of a run, the missing ones by their number. */
function machinesOf({ instances }: AccountView, run: RunView): InstanceView[] {
  const nodes = isProjectRun(run) ? (run.nodes ?? []) : []
  return [run, ...nodes].flatMap(({ instance }) => instances[instance ?? ''] ?? [])
}

function cancelRunQuestion(account: AccountView, { run }: Subjects['cancelRun'], now: number): Question {
  if (isBeforeRenting(run))
    return {
      title: `Cancel ${run.name}?`,
      verb: 'Cancel run',
      lines: ['It has no machine now, so none is destroyed. Downloaded results stay.'],
      grave: false,
    }
  const machines = machinesOf(account, run)
  const isUnrented = run.step === 'failed' && run.instance === undefined
  const what = machines.length > 1 ? `${machines.length} machines` : 'machine'
  return {
    title: isUnrented ? `End ${run.name}?` : `Destroy the ${what} of ${run.name}?`,
    verb: isUnrented ? 'End' : machines.length > 1 ? `Destroy ${what}` : 'Destroy',
    lines: [
      ...listOf(isUnrented ? undefined : destroyedWords(machines)),
      ...paidBackWords(machines, now),
      'No more results are downloaded. Downloaded ones stay.',
    ],
    grave: true,
  }
}

function destroyedWords(machines: readonly InstanceView[]): string {
  if (machines.length === 0) return 'The machine being rented for it will be destroyed.'
  const names = named(machines.map(instanceName), { most: 8 })
  if (machines.length === 1) return `${names} is destroyed, with its disk and all files on it.`
  return `These are destroyed, with their disks and all files on them: ${names}.`
}

function cancelSweepQuestion(
  account: AccountView,
  { sweep }: Subjects['cancelSweep'],
  now: number,
): Question {
  const going = Object.values(account.runs).filter(run => run.sweep?.id === sweep.id && isGoing(run))
  const waiting = Object.values(account.waiting).filter(one => one.sweep === sweep.id)
  const ids = new Set(waiting.filter(({ action }) => action === 'destroy').map(({ instance }) => instance))
  for (const run of going) for (const { id } of machinesOf(account, run)) ids.add(id)
  const machines = [...ids].toSorted((a, b) => a - b).flatMap(id => account.instances[id] ?? [])
  const stopped = waiting.filter(({ action }) => action === 'stop').length
  const renting = going.filter(run => machinesOf(account, run).length === 0).length
  const lines = [
    going.length > 0 &&
      `${counted(going.length, 'run')} in progress ${going.length === 1 ? 'is' : 'are'} cancelled, and no other starts.`,
    machines.length > 0 && destroyedWords(machines),
    ...paidBackWords(machines, now),
    renting > 0 &&
      `${counted(renting, 'machine')} being rented ${renting === 1 ? 'is' : 'are'} destroyed too.`,
    stopped > 0 && `${counted(stopped, 'machine')} that ${stopped === 1 ? 'waits is' : 'wait are'} stopped.`,
    'Results that aren’t downloaded yet are lost. Downloaded ones stay, and you can continue later.',
  ]
  return {
    title: `Cancel the sweep ${sweep.name}?`,
    verb: machines.length > 0 ? `Destroy ${counted(machines.length, 'machine')}` : 'Cancel sweep',
    lines: lines.filter(line => line !== false),
    grave: true,
  }
}
