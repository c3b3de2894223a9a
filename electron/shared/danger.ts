import { hasEnded } from './automation/limit.ts'
import { defaultLimits } from './automation/limit-defaults.ts'
import { stopperWords, untoldWatchdogs } from './automation/limit-words.ts'
import { type AllToStop, starting, startsUnlimited, stoppersOf } from './automation/limits-that-block.ts'
import { isGoing, isProjectRun, type RunView } from './automation/run.ts'
import { type Danger, type DeletionSubjects, deletions, noUndo, type Question } from './deletions.ts'
import { rate } from './format/money.ts'
import { instanceName, named, shortInstanceName } from './format/name.ts'
import { counted, gigabytes, percent } from './format/size.ts'
import { atMoment } from './format/time.ts'
import type { InstanceView, UndoableAction } from './instance/instance.ts'
import { rentedName } from './market/rental-view.ts'
import { beyondCredit, creditVerb, type MoreCost } from './spending/beyond-credit.ts'
import type { Micros } from './spending/money.ts'
import { paidBackWords, prepayQuestion } from './spending/prepaying.ts'
import { costOf, volumesWords } from './spending/spend-words.ts'
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

/** Every action that spends or loses something, with its question for all ways to it; those of runs: `run-dangers.ts`. */
export const dangers: { [Action in DangerousAction]: Danger<Subjects[Action]> } = {
  stop: { undo: true, question: stopQuestion },
  destroy: { undo: false, question: destroyQuestion },
  stopEverything: { undo: false, question: stopEverythingQuestion },
  start: { undo: true, question: startQuestion },
  reboot: { undo: true, question: rebootQuestion },
  bid: { undo: false, question: bidQuestion },
  prepay: { undo: false, question: prepayQuestion },
  rent: { undo: false, question: rentQuestion },
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
  reboot: { doing: 'Restarting', undone: 'was not restarted', name: 'Restart' },
}

/** The runs that end where these instances stop, are destroyed or restarted. */
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

/** `kohya #4711 (82%) is working now.`, of several: who acts on many doesn't see each. Empty where none works. */
function workingNow(instances: readonly InstanceView[]): string[] {
  if (instances.length < 2) return []
  const working = instances.flatMap(one => {
    const { state, gpuLoad = 0 } = one
    return state === 'running' && gpuLoad >= defaultLimits.idle.below
      ? `${shortInstanceName(one)} (${percent(gpuLoad)})`
      : []
  })
  if (working.length === 0) return []
  return [`${named(working)} ${working.length === 1 ? 'is' : 'are'} working now.`]
}

function titleOf(verb: string, instances: readonly InstanceView[]): string {
  const [first] = instances
  return `${first && instances.length === 1 ? `${verb} ${instanceName(first)}` : actionOn(verb, instances)}?`
}

/** Limits destroy what is stopped, too: `Its limit still destroys it with its files at 17:40.`; empty without such a limit. */
function destroyedLater({ limits }: AccountView, instances: readonly InstanceView[], now: number): string[] {
  const first = (id: number) =>
    Object.values(limits)
      .filter(limit => limit.instance === id && limit.action === 'destroy' && !hasEnded(limit))
      .flatMap(({ dueAt }) => dueAt ?? [])
      .sort((a, b) => a - b)[0]
  const moments = instances.flatMap(({ id }) => first(id) ?? [])
  const [only] = moments
  if (only === undefined) return []
  if (instances.length === 1) return [`Its limit still destroys it with its files ${atMoment(only, now)}.`]
  const number = moments.length === instances.length ? 'all' : moments.length
  const when = atMoment(Math.min(...moments), now)
  return [`Limits still destroy ${number} of them with their files, the first ${when}.`]
}

/** One stop can be undone, so it is asked about only where it ends a run. */
function stopQuestion(
  account: AccountView,
  { instances }: Subjects['stop'],
  now: number,
): Question | undefined {
  const runs = endingRuns(account, instances)
  const [first] = instances
  if (!first || (instances.length === 1 && runs.length === 0)) return undefined
  const disk = instances.length === 1 ? first.diskPricePerHour : undefined
  return {
    title: titleOf('Stop', instances),
    verb: actionOn('Stop', instances),
    lines: [
      ...workingNow(instances),
      ...runs,
      instances.length > 1
        ? 'Files are kept; disks are still billed.'
        : `Files are kept; the disk is ${disk === undefined ? 'still billed' : `billed at ${rate(disk)}`}.`,
      ...destroyedLater(account, instances, now),
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
      ...workingNow(instances),
      ...endingRuns(account, instances),
      instances.length > 1
        ? `Everything on them is lost: their disks with all files. ${noUndo}`
        : `Everything on it is lost: ${disk === undefined ? 'its disk' : `its disk (${gigabytes(disk)})`} ` +
          `with all files, its settings and everything running on it. ${noUndo}`,
      ...paidBackWords(instances, now),
      `You stop paying ${costOf(instances)}.`,
      ...(account.volumes ? [`Volumes stay, with what is in them: ${volumesWords(account.volumes)}.`] : []),
    ],
    grave: true,
  }
}

/** Undefined where nothing runs. */
function stopEverythingQuestion(
  account: AccountView,
  { all: { instances, rentals, watches }, on }: Subjects['stopEverything'],
  now: number,
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
    ...destroyedLater(account, instances, now),
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
  const untold = instances.flatMap(({ id }) => untoldWatchdogs(account, now, id))
  lines.push(...untold)
  if (instances.length === 1 && unlimited > 0 && untold.length === 0)
    lines.push('It has no limit, so it runs until you stop it.')
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
  return {
    title: titleOf('Restart', instances),
    verb: actionOn('Restart', instances),
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

const unpriced =
  'The service doesn’t report this machine’s price, so limits in dollars can’t work. ' +
  'Berth only sees your credit fall. The service’s own page may show the price.'
