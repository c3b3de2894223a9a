import {
  cancelledWords,
  isGoing,
  isProjectRun,
  movesWords,
  type ProjectRunView,
} from '../shared/automation/run.ts'
import { latestRuns, type SweepView, type WaitingMachineView } from '../shared/automation/sweep.ts'
import { isLongWait, waitingLine } from '../shared/automation/waiting.ts'
import { accountNow } from '../shared/derived.ts'
import { money } from '../shared/format/money.ts'
import { instanceName, named } from '../shared/format/name.ts'
import { counted } from '../shared/format/size.ts'
import { isRenting } from '../shared/market/rental-view.ts'
import { settingWords } from '../shared/project/sweep.ts'
import type { AccountView, State } from '../shared/state.ts'
import type { RunJson } from './answers.ts'
import { awaitEnds } from './await-ends.ts'
import {
  accountsOf,
  type Call,
  cliDollars,
  isoTime,
  polledState,
  print,
  sayWhatIsOld,
  table,
  waitingJson,
} from './call.ts'
import { CliFailure, exitCodes } from './failure.ts'
import { findProject } from './project.ts'

/** What a project has on one account. */
interface OnAccount {
  account: AccountView
  runs: ProjectRunView[]
  sweeps: SweepView[]
}

function ofProject(call: Call, state: State, project: string): OnAccount[] {
  return accountsOf(call, state).map(account => ({
    account,
    runs: Object.values(account.runs)
      .filter(isProjectRun)
      .filter(run => run.project === project)
      .toSorted((a, b) => a.createdAt - b.createdAt),
    sweeps: Object.values(account.sweeps).filter(sweep => sweep.project === project),
  }))
}

const noProject = (word: string) =>
  new CliFailure(exitCodes.unknown, {
    code: 'no_such_project',
    message: `No project has the name, id or folder ${word}.`,
    advice: 'List them: berth project ls',
  })

/** Prints the runs of a project, the oldest first, those of sweeps with their settings and last line. */
export async function listRuns(call: Call, word: string): Promise<number | undefined> {
  const state = await polledState(call)
  const project = await findProject(state, word)
  if (project === undefined) throw noProject(word)
  const all = ofProject(call, state, project)
  const rows = all.flatMap(({ account, runs, sweeps }) =>
    runs.map(run => ({ account, run, sweep: sweepOf(run, sweeps) })),
  )
  if (call.quiet) call.write(rows.map(({ run }) => `${run.id}\n`).join(''))
  else if (call.json)
    print(call, {
      sweeps: all.flatMap(sweepsJson),
      runs: rows.map(({ account, run, sweep }) => runJson(account, run, sweep)),
    })
  else {
    if (rows.length > 0) call.write(listing(rows))
    for (const { account, sweeps } of all) saySweepWaits(call, account, sweeps)
  }
  return sayWhatIsOld(
    call,
    all.map(({ account }) => account),
  )
}

/** What sweeps have waited for too long before their next run begins. */
export function saySweepWaits(
  call: Call,
  { clock, sweeps: all }: AccountView,
  sweeps: readonly SweepView[] = Object.values(all),
): void {
  const now = accountNow(clock, Date.now())
  for (const { name, waiting } of sweeps)
    if (waiting && isLongWait(waiting, now)) call.say(`${name}: ${waitingLine(waiting, now)}`)
}

const sweepOf = ({ sweep }: ProjectRunView, sweeps: readonly SweepView[]) =>
  sweeps.find(({ id }) => id === sweep?.id)

/** Micro-dollars of a run or a sweep up to now. */
export function costNow({ cost }: Pick<ProjectRunView, 'cost'>, { clock }: AccountView): number {
  const now = accountNow(clock, Date.now())
  return cost.micros + Math.floor((Math.max(0, now - cost.at) * cost.perHour) / 3600)
}

function listing(
  rows: readonly { account: AccountView; run: ProjectRunView; sweep: SweepView | undefined }[],
): string {
  return table(
    ['ID', 'NAME', 'SETTING', 'STEP', '>COST', 'PRINTED', 'INSTANCE', 'NOTE'],
    rows.map(({ account, run, sweep }) => [
      run.id,
      run.name,
      settingWords(sweep?.settings[run.sweep?.index ?? 0] ?? {}),
      run.step,
      money(costNow(run, account)),
      Object.entries(run.printed ?? {})
        .map(([name, value]) => `${name}=${value}`)
        .join(' '),
      run.instance === undefined ? '' : String(run.instance),
      noteOf(run, account, sweep),
    ]),
  )
}

/** Why the run failed or ended, what it has waited for too long or is hindered by, and what its moves lost. */
function noteOf(run: ProjectRunView, account: AccountView, sweep: SweepView | undefined): string {
  const { step, problem, waiting } = run
  const now = accountNow(account.clock, Date.now())
  const cancelled = cancelledWords(run, { cost: costNow(run, account), now, sweep })
  const waits = waiting && isLongWait(waiting, now) ? waitingLine(waiting, now) : ''
  const moved = movesWords(run)
  const state = cancelled ?? (problem && (step === 'failed' || waits === '') ? problem.message : waits)
  return [state, moved && `${moved}.`].filter(Boolean).join(' ')
}

/** Scripts rely on these fields: they are added, never renamed. */
function runJson(account: AccountView, run: ProjectRunView, sweep: SweepView | undefined): RunJson {
  const { id, name, step, code, problem, instance, createdAt, endedAt, retried, printed = {} } = run
  return {
    account: account.id,
    job: id,
    sweep: sweep?.id ?? null,
    run: run.sweep ? run.sweep.index + 1 : null,
    setting: sweep?.settings[run.sweep?.index ?? 0] ?? {},
    name,
    step,
    exitCode: code ?? null,
    problem: problem ?? null,
    retries: retried?.times ?? 0,
    moves: run.moves,
    trainingLost: run.lost?.seconds ?? 0,
    trainingLostCost: cliDollars(run.lostCost ?? 0),
    instance: instance ?? null,
    cost: cliDollars(costNow(run, account)),
    printed,
    asked: isoTime(createdAt),
    ended: endedAt === undefined ? null : isoTime(endedAt),
    waiting: waitingJson(run.waiting),
  }
}

function sweepsJson({ account, sweeps, runs }: OnAccount) {
  return sweeps.map(sweep => ({
    account: account.id,
    id: sweep.id,
    name: sweep.name,
    step: sweep.step,
    ...sweepCounts(sweep, runs),
    cost: cliDollars(costNow(sweep, account)),
    costsAtMost: sweep.most === undefined ? null : cliDollars(sweep.most),
    results: sweep.results,
    waiting: waitingJson(sweep.waiting),
  }))
}

/** How many of a sweep's runs there are, and how many of them are done, failed and in progress. */
export function sweepCounts(sweep: SweepView, runs: readonly ProjectRunView[]) {
  const latest = latestRuns(sweep, runs)
  const count = (isCounted: (run: ProjectRunView) => boolean) =>
    latest.filter(run => run !== undefined && isCounted(run)).length
  return {
    runs: sweep.settings.length,
    done: count(({ step }) => step === 'done'),
    failed: count(({ step }) => step === 'failed'),
    going: count(isGoing),
  }
}

/**
 * Cancels a project's runs and sweeps in progress and ends the machines that wait for its next run, and resolves once they are
 * gone. Returns false if no project has that name or id. `isInstance`: an instance has that name, too, as a run's machine
 * does; then also if the project has none of these.
 */
export async function stopProject(
  call: Call,
  state: State,
  word: string,
  isInstance: boolean,
): Promise<boolean> {
  const project = await findProject(state, word)
  if (project === undefined) return false
  const all = ofProject(call, state, project)
  const alone = all.flatMap(({ account, runs }) =>
    runs.filter(run => isGoing(run) && run.sweep === undefined).map(run => ({ account, run })),
  )
  const going = all.flatMap(({ account, sweeps }) =>
    sweeps.filter(({ step }) => step === 'going').map(sweep => ({ account, sweep })),
  )
  // A sweep in progress ends its own.
  const spare = all.flatMap(({ account }) =>
    Object.values(account.waiting)
      .filter(there => there.project === project && !going.some(({ sweep }) => sweep.id === there.sweep))
      .map(machine => ({ account, machine })),
  )
  const inProgress = [
    ...going.map(() => 'its sweep'),
    ...(alone.length === 0 ? [] : [counted(alone.length, 'run')]),
  ]
  const what = named([...inProgress, ...(spare.length === 0 ? [] : [waitingWords(spare.length)])])
  if (what === '' && isInstance) return false
  if (what === '' || (inProgress.length === 0 && !isInstance && !call.yes))
    throw new CliFailure(exitCodes.failed, {
      code: 'not_running',
      message: `${word} has no run in progress.`,
    })
  const [verb, past] = inProgress.length > 0 ? ['Cancelling', 'Cancelled'] : ['Ending', 'Ended']
  if (!call.yes)
    throw new CliFailure(exitCodes.refused, {
      code: 'needs_yes',
      message: `${verb} ${what} ${lossOf(inProgress.length > 0, spare)}.`,
      advice: isInstance
        ? `Confirm with --yes. To stop only the instance ${word}, use its id.`
        : 'Confirm with --yes.',
    })
  const cancelled = all.map(({ account, runs }) => ({
    account: account.id,
    runs: runs.filter(isGoing),
    machines: spare.flatMap(({ account: { id }, machine }) => (id === account.id ? machine : [])),
  }))
  for (const { account, sweep } of going)
    await call.connection.command('stopSweep', { account: account.id, sweep: sweep.id })
  for (const { account, run } of alone)
    await call.connection.command('cancelRun', { account: account.id, run: run.id })
  for (const { account, machine } of spare)
    await endWaiting(call, { account: account.id, instance: machine.instance })
  await untilEnded(call, cancelled)
  if (call.json)
    print(call, {
      project,
      sweeps: going.map(({ sweep }) => sweep.id),
      jobs: alone.map(({ run }) => run.id),
      waiting: spare.map(({ machine }) => machine.instance),
    })
  else call.write(`${past} ${what} of ${word}\n`)
  return true
}

const waitingWords = (count: number) =>
  count === 1 ? 'its waiting machine' : `its ${count} waiting machines`

function lossOf(cancels: boolean, spare: readonly { machine: WaitingMachineView }[]): string {
  const [them, disks] = spare.length > 1 ? ['them', 'their disks are'] : ['it', 'its disk is']
  if (cancels) return 'destroys the machines and all their files'
  if (spare.every(({ machine }) => machine.action === 'stop')) return `stops ${them}; ${disks} still billed`
  return `destroys ${them} and all files there`
}

/** One that has ended meanwhile is no failure. */
async function endWaiting({ connection }: Call, on: { account: string; instance: number }): Promise<void> {
  await connection.command('endWaiting', on).catch(error => {
    if (!(error instanceof CliFailure && error.problem.code === 'not_waiting')) throw error
  })
}

interface Cancelled {
  account: string
  runs: readonly ProjectRunView[]
  machines: readonly WaitingMachineView[]
}

/** Resolves once a fresh reading shows no machine of these runs nor one that waited, and none is being rented for them. */
async function untilEnded({ connection, say }: Call, cancelled: readonly Cancelled[]): Promise<void> {
  let left: Left[] = []
  let isSaving = false
  async function isOver(): Promise<boolean> {
    const { accounts } = await connection.state()
    isSaving = cancelled.some(({ account, runs }) =>
      runs.some(({ id }) => accounts[account]?.runs[id]?.waiting?.for === 'save'),
    )
    left = cancelled.flatMap(({ account, runs, machines }) => {
      const now = accounts[account]
      if (!now) return []
      const ofRuns = runs.flatMap(run => [run, ...(run.nodes ?? [])]).flatMap(run => leftOf(now, run))
      return [...ofRuns, ...machines.flatMap(machine => leftWaiting(now, machine))]
    })
    return left.length === 0
  }
  const rest = () => ({
    words: `Not destroyed yet: ${named(left.map(({ name }) => name))}`,
    problem: left.find(({ problem }) => problem !== undefined)?.problem,
    isSaving,
  })
  await awaitEnds(connection, isOver, rest, say)
}

/** A machine that is still there, or is still being rented. */
interface Left {
  name: string
  problem: string | undefined
}

function leftOf({ instances, rentals, endings }: AccountView, run: ProjectRunView): Left[] {
  const rental = rentals[run.rental ?? '']
  const id = run.instance ?? rental?.instance
  const instance = id === undefined ? undefined : instances[id]
  if (instance) return [{ name: instanceName(instance), problem: endings[instance.id]?.problem }]
  return rental && isRenting(rental) ? [{ name: rental.label ?? run.name, problem: undefined }] : []
}

/** A machine waits until its end is seen, and a destroyed one is listed no more. */
function leftWaiting(
  { instances, waiting, endings }: AccountView,
  { instance: id, action }: WaitingMachineView,
): Left[] {
  const instance = instances[id]
  const isLeft = waiting[id] !== undefined || endings[id] !== undefined || action === 'destroy'
  return instance && isLeft ? [{ name: instanceName(instance), problem: endings[id]?.problem }] : []
}
