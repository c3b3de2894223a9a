import { starting } from './automation/limits-that-block.ts'
import { isCutShort, isGoing, isProjectRun, type RunView } from './automation/run.ts'
import { latestRuns, type SweepView } from './automation/sweep.ts'
import { isBeforeRenting } from './automation/waiting.ts'
import type { Danger, Question } from './deletions.ts'
import { money, rate } from './format/money.ts'
import { instanceName, named } from './format/name.ts'
import { counted } from './format/size.ts'
import type { InstanceView } from './instance/instance.ts'
import type { PlanCosts } from './project/plan-costs.ts'
import { beyondCredit, creditVerb } from './spending/beyond-credit.ts'
import { paidBackWords } from './spending/prepaying.ts'
import type { AccountView } from './state.ts'

/** What each action on runs is done to. */
interface RunSubjects {
  startRun: Pick<PlanCosts, 'sum' | 'longest'>
  endRun: { run: RunView; afterwards: string }
  cancelRun: { run: RunView }
  moveRun: { run: RunView }
  cancelSweep: { sweep: SweepView }
  /** `repeats`: whether its failed runs run again, too. */
  continueSweep: { sweep: SweepView; repeats: boolean }
}

/** The actions on runs and sweeps that spend or lose something. */
export const runDangers: { [Action in keyof RunSubjects]: Danger<RunSubjects[Action]> } = {
  startRun: { undo: false, question: startRunQuestion },
  endRun: { undo: false, question: endRunQuestion },
  cancelRun: { undo: false, question: cancelRunQuestion },
  moveRun: { undo: false, question: moveRunQuestion },
  cancelSweep: { undo: false, question: cancelSweepQuestion },
  continueSweep: { undo: false, question: continueSweepQuestion },
}

/** A run is asked about where the credit doesn’t pay for its machines. A limit that would stop them holds them back. */
function startRunQuestion(
  account: AccountView,
  { sum, longest }: RunSubjects['startRun'],
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

function endRunQuestion(_account: AccountView, { run, afterwards }: RunSubjects['endRun']): Question {
  const verb = run.step !== 'waiting' && run.instance !== undefined ? 'End' : 'Don’t run'
  return { title: `${verb} ${run.name}?`, verb, lines: [afterwards], grave: true }
}

function moveRunQuestion({ instances }: AccountView, { run }: RunSubjects['moveRun']): Question {
  const machine = instances[run.instance ?? '']
  const name = machine ? instanceName(machine) : 'the machine'
  const price = machine?.pricePerHour === undefined ? '' : ` at ${rate(machine.pricePerHour)}`
  return {
    title: `Move ${run.name} to another machine?`,
    verb: 'Move',
    lines: [
      'Berth ends the command, rents another machine, and starts the command there with the results so far.',
      `You pay for ${name}${price} until they are there, 30 minutes at most. Then it’s destroyed. ` +
        'The run’s highest cost stays the same.',
    ],
    grave: true,
  }
}

/** The machines of a run, the missing ones by their number. */
function machinesOf({ instances }: AccountView, run: RunView): InstanceView[] {
  const nodes = isProjectRun(run) ? (run.nodes ?? []) : []
  return [run, ...nodes].flatMap(({ instance }) => instances[instance ?? ''] ?? [])
}

function cancelRunQuestion(account: AccountView, { run }: RunSubjects['cancelRun'], now: number): Question {
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
      ...(isUnrented ? [] : [destroyedWords(machines)]),
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
  { sweep }: RunSubjects['cancelSweep'],
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

/** Its machines start again or others are rented, and its limits count anew: it costs more than was agreed to at first. */
function continueSweepQuestion(
  account: AccountView,
  { sweep, repeats }: RunSubjects['continueSweep'],
  now: number,
): Question {
  const latest = latestRuns(sweep, Object.values(account.runs))
  const isAgain = (run: RunView) =>
    repeats ? run.step === 'failed' || run.step === 'cancelled' : isCutShort(run)
  const again = latest.filter(run => run !== undefined).filter(isAgain)
  const machines = again.flatMap(run =>
    run.step === 'failed' ? (account.instances[run.instance ?? ''] ?? []) : [],
  )
  const anew = again.length - machines.length + latest.filter(run => run === undefined).length
  const { price, most } = sweep.agreed
  const rented = Math.max(0, Math.min(sweep.atOnce - machines.length, anew))
  const restarted = machines.reduce((sum, one) => sum + (one.pricePerHour ?? one.costPerHour), 0)
  const perHour = restarted + rented * (price ?? 0)
  const more = machines.reduce((sum, one) => sum + starting(one).more, 0) + rented * (price ?? 0)
  const beyond = beyondCredit(account, { perHour: more }, now)
  const verb = repeats ? 'Rerun' : 'Continue'
  const isOne = machines.length === 1
  const startAgain = isOne ? 'starts again on its machine' : 'start again on their machines'
  const begin = anew === 1 ? 'begins' : 'begin'
  const where = rented === 1 ? 'a machine' : 'machines'
  const lines = [
    beyond?.why,
    machines.length > 0 && `${counted(machines.length, 'run')} ${startAgain}, with the files there.`,
    anew > 0 && `${counted(anew, 'run')} ${begin} from the start, on ${where} that Berth rents.`,
    most === undefined
      ? 'Its limits count anew.'
      : `Its limits count anew, so it may cost up to ${money(most)} more.`,
  ]
  return {
    title: `${verb === 'Rerun' ? 'Rerun the failed runs of' : verb} ${sweep.name}?`,
    verb: perHour > 0 ? `${verb} for ${rate(perHour)}` : verb,
    lines: lines.filter(line => typeof line === 'string'),
    grave: beyond !== undefined,
  }
}
