import { type GroupView, latestRuns } from '../shared/automation/group.ts'
import { isGoing, isProjectRun, type ProjectRunView } from '../shared/automation/run.ts'
import { isLongWait, waitingLine } from '../shared/automation/waiting.ts'
import { money } from '../shared/format/money.ts'
import { counted } from '../shared/format/size.ts'
import { settingWords } from '../shared/project/sweep.ts'
import { accountNow } from '../shared/reading.ts'
import type { AccountView, State } from '../shared/state.ts'
import { accountsOf, type Call, cliDollars, isoTime, polledState, print, table, waitingJson } from './call.ts'
import { CliFailure, exitCodes } from './failure.ts'
import { findProject } from './project.ts'

/** What a project has on one account. */
interface OnAccount {
  account: AccountView
  runs: ProjectRunView[]
  groups: GroupView[]
}

function ofProject(call: Call, state: State, project: string): OnAccount[] {
  return accountsOf(call, state).map(account => ({
    account,
    runs: Object.values(account.runs)
      .filter(isProjectRun)
      .filter(run => run.project === project)
      .toSorted((a, b) => a.createdAt - b.createdAt),
    groups: Object.values(account.groups).filter(group => group.project === project),
  }))
}

const noProject = (word: string) =>
  new CliFailure(exitCodes.unknown, {
    code: 'no_such_project',
    message: `No project has the name, id or folder ${word}.`,
    advice: 'List them: berth project ls',
  })

/** Prints the runs of a project, the oldest first, those of sweeps with their settings and last line. */
export async function listRuns(call: Call, word: string): Promise<undefined> {
  const state = await polledState(call)
  const project = await findProject(state, word)
  if (project === undefined) throw noProject(word)
  const all = ofProject(call, state, project)
  const rows = all.flatMap(({ account, runs, groups }) =>
    runs.map(run => ({ account, run, group: groupOf(run, groups) })),
  )
  if (call.quiet) call.write(rows.map(({ run }) => `${run.id}\n`).join(''))
  else if (call.json)
    print(call, {
      sweeps: all.flatMap(sweepsJson),
      runs: rows.map(({ account, run, group }) => runJson(account, run, group)),
    })
  else if (rows.length > 0) call.write(listing(rows))
  return undefined
}

const groupOf = ({ group }: ProjectRunView, groups: readonly GroupView[]) =>
  groups.find(({ id }) => id === group?.id)

function costOf({ cost }: ProjectRunView, { clock }: AccountView): number {
  const now = accountNow(clock, Date.now())
  return cost.micros + Math.floor((Math.max(0, now - cost.at) * cost.perHour) / 3600)
}

function listing(
  rows: readonly { account: AccountView; run: ProjectRunView; group: GroupView | undefined }[],
): string {
  return table(
    ['ID', 'NAME', 'SETTING', 'STEP', '>COST', 'PRINTED', 'INSTANCE', 'WAITS'],
    rows.map(({ account, run, group }) => [
      run.id,
      run.name,
      settingWords(group?.settings[run.group?.index ?? 0] ?? {}),
      run.step,
      money(costOf(run, account)),
      Object.entries(run.printed ?? {})
        .map(([name, value]) => `${name}=${value}`)
        .join(' '),
      run.instance === undefined ? '' : String(run.instance),
      waitsOf(run, account),
    ]),
  )
}

/** What the run has waited for too long; '' where it goes on. */
function waitsOf({ waiting }: ProjectRunView, { clock }: AccountView): string {
  const now = accountNow(clock, Date.now())
  return waiting && isLongWait(waiting, now) ? waitingLine(waiting, now) : ''
}

/** Scripts rely on these fields: they are added, never renamed. */
function runJson(account: AccountView, run: ProjectRunView, group: GroupView | undefined) {
  const { id, name, step, code, problem, instance, createdAt, endedAt, printed = {} } = run
  return {
    account: account.id,
    job: id,
    sweep: group?.id ?? null,
    run: run.group ? run.group.index + 1 : null,
    setting: group?.settings[run.group?.index ?? 0] ?? {},
    name,
    step,
    exitCode: code ?? null,
    problem: problem ?? null,
    instance: instance ?? null,
    cost: cliDollars(costOf(run, account)),
    printed,
    asked: isoTime(createdAt),
    ended: endedAt === undefined ? null : isoTime(endedAt),
    waiting: waitingJson(run.waiting),
  }
}

function sweepsJson({ account, groups, runs }: OnAccount) {
  return groups.map(group => ({
    account: account.id,
    id: group.id,
    name: group.name,
    step: group.step,
    ...groupCounts(group, runs),
    cost: cliDollars(group.cost.micros),
    costsAtMost: group.most === undefined ? null : cliDollars(group.most),
    results: group.results,
  }))
}

/** How many of a sweep's runs there are, and how many of them are done, failed and in progress. */
export function groupCounts(group: GroupView, runs: readonly ProjectRunView[]) {
  const latest = latestRuns(group, runs)
  const count = (isCounted: (run: ProjectRunView) => boolean) =>
    latest.filter(run => run !== undefined && isCounted(run)).length
  return {
    runs: group.settings.length,
    done: count(({ step }) => step === 'done'),
    failed: count(({ step }) => step === 'failed'),
    going: count(isGoing),
  }
}

/**
 * Cancels a project's runs and sweeps in progress. Returns false if no project has that name or id. `isInstance`: an
 * instance has that name, too, as a run's machine does; then also if the project has nothing in progress.
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
    runs.filter(run => isGoing(run) && run.group === undefined).map(run => ({ account, run })),
  )
  const sweeps = all.flatMap(({ account, groups }) =>
    groups.filter(({ step }) => step === 'going').map(group => ({ account, group })),
  )
  const what = [
    ...sweeps.map(() => 'its sweep'),
    ...(alone.length === 0 ? [] : [counted(alone.length, 'run')]),
  ].join(' and ')
  if (what === '' && isInstance) return false
  if (what === '')
    throw new CliFailure(exitCodes.failed, {
      code: 'not_running',
      message: `${word} has no run in progress.`,
    })
  if (!call.yes)
    throw new CliFailure(exitCodes.refused, {
      code: 'needs_yes',
      message: `Cancelling ${what} destroys the machines and all their files.`,
      advice: isInstance
        ? `Confirm with --yes. To stop only the instance ${word}, use its id.`
        : 'Confirm with --yes.',
    })
  for (const { account, group } of sweeps)
    await call.connection.command('stopGroup', { account: account.id, group: group.id })
  for (const { account, run } of alone)
    await call.connection.command('cancelRun', { account: account.id, run: run.id })
  if (call.json)
    print(call, {
      project,
      sweeps: sweeps.map(({ group }) => group.id),
      jobs: alone.map(({ run }) => run.id),
    })
  else call.write(`Cancelled ${what} of ${word}\n`)
  return true
}
