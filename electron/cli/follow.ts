import {
  isGoing,
  isProjectRun,
  movesWords,
  type ProjectRunView,
  type RunStep,
} from '../shared/automation/run.ts'
import type { SweepView } from '../shared/automation/sweep.ts'
import { isLongWait, longestSilence, waitingLine } from '../shared/automation/waiting.ts'
import { accountNow } from '../shared/derived.ts'
import { money, rate } from '../shared/format/money.ts'
import { counted } from '../shared/format/size.ts'
import type { AccountView } from '../shared/state.ts'
import { type Call, cliDollars, waitingJson } from './call.ts'
import { CliFailure, exitCodes } from './failure.ts'
import { outputPrinter, writer } from './logs.ts'
import { costNow, sweepCounts } from './project-runs.ts'

const words: Readonly<Record<RunStep, string>> = {
  waiting: 'Renting a machine',
  sending: 'Sending the folder',
  setup: 'Setting up',
  running: 'Running',
  fetching: 'Downloading the results',
  ending: 'Ending the machine',
  done: 'Done',
  failed: 'Failed',
  cancelled: 'Cancelled',
}

/** Prints the run's steps and output until it has ended; gives 0 where its command did. */
export async function followRun(call: Call, account: string, id: string): Promise<number> {
  const { connection, json, say } = call
  const output = writer(call)
  let shownStep: RunStep | undefined
  /** What prints the output of the machine after so many moves. */
  let printer: { moved: number; more(): Promise<void> } | undefined
  const tellWaits = waitTeller(call)
  for (;;) {
    // Read before the output, so that a run that has ended is printed to its end.
    const view = (await connection.state()).accounts[account]
    const { runs, instances } = view ?? {}
    const run = runs?.[id]
    if (!run || !isProjectRun(run))
      throw new CliFailure(exitCodes.unknown, { code: 'no_such_run', message: 'The run is gone.' })
    if (run.step !== shownStep && !json) say(words[run.step])
    shownStep = run.step
    if (run.outputs.includes('command') && run.moves !== printer?.moved) {
      output.end()
      printer = { moved: run.moves, more: outputPrinter(call, account, id, output.write) }
    }
    await printer?.more()
    if (view) tellWaits(view, [run, ...(run.nodes ?? [])])
    if (!isGoing(run)) {
      output.end()
      return ended(call, run, instances?.[run.instance ?? -1]?.diskPricePerHour)
    }
    await changeOrTick(connection)
  }
}

/** Prints how far a sweep is until it has no current runs and starts no more; gives 0 if all its runs are done. */
export async function followSweep(call: Call, account: string, id: string): Promise<number> {
  const { connection, json, say } = call
  let shownLine = ''
  const tellWaits = waitTeller(call)
  for (;;) {
    const view = (await connection.state()).accounts[account]
    const { runs = {}, sweeps } = view ?? {}
    const sweep = sweeps?.[id]
    if (!sweep)
      throw new CliFailure(exitCodes.unknown, { code: 'no_such_sweep', message: 'The sweep is gone.' })
    const ofProjects = Object.values(runs).filter(isProjectRun)
    const counts = sweepCounts(sweep, ofProjects)
    const words = `${counts.done} of ${counts.runs} done${counts.failed > 0 ? `, ${counts.failed} failed` : ''}`
    if (words !== shownLine && !json) say(words)
    shownLine = words
    if (view)
      tellWaits(
        view,
        ofProjects.filter(run => run.sweep?.id === id),
        sweep,
      )
    if (sweep.step !== 'going' && counts.going === 0) {
      const cost = await finalCost(call, account, sweep)
      if (json)
        call.write(`${JSON.stringify({ sweep: id, step: sweep.step, ...counts, cost: cliDollars(cost) })}\n`)
      else {
        if (sweep.problem) say([sweep.problem.message, sweep.problem.advice].filter(Boolean).join(' '))
        say(`Results are in ${sweep.results}. It cost ${money(cost)}.`)
      }
      return counts.done === counts.runs ? exitCodes.done : exitCodes.failed
    }
    await changeOrTick(connection)
  }
}

/** Micro-dollars as of another poll: its machines' cost is only known of polls, and it may have ended before the first. */
async function finalCost({ connection }: Call, account: string, before: SweepView): Promise<number> {
  await connection.command('refresh', { account }).catch(() => undefined)
  const view = (await connection.state()).accounts[account]
  const sweep = view?.sweeps[before.id] ?? before
  return view ? costNow(sweep, view) : sweep.cost.micros
}

/** Resolves when State changes, and at the latest after two seconds: what is waited for may not change it. */
async function changeOrTick(connection: Call['connection']): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const tick = new Promise<void>(resolve => {
    timer = setTimeout(resolve, 2000)
  })
  await Promise.race([connection.change(), tick]).finally(() => clearTimeout(timer))
}

/**
 * Says on stderr what runs wait for: once that has lasted, when it or its error changes, and again before it was silent for
 * too long. With `--json` a line `{"job", "step", "waiting"}` on stdout, or `"sweep"` for one's next run.
 */
function waitTeller({
  json,
  write,
  say,
}: Call): (account: AccountView, runs: readonly ProjectRunView[], sweep?: SweepView) => void {
  /** What was said last of each run, and when on this computer. */
  const told = new Map<string, { what: string; at: number }>()

  function tell(
    { clock }: AccountView,
    { id, name, step, waiting }: Pick<ProjectRunView | SweepView, 'id' | 'name' | 'step' | 'waiting'>,
    field: 'job' | 'sweep',
    isOne: boolean,
  ): void {
    const at = Date.now()
    const now = accountNow(clock, at)
    if (!waiting || !isLongWait(waiting, now)) return void told.delete(id)
    const what = `${waiting.for} ${waiting.problem?.message}`
    const last = told.get(id)
    if (last?.what === what && at - last.at < longestSilence * 1000) return
    told.set(id, { what, at })
    if (json) write(`${JSON.stringify({ [field]: id, step, waiting: waitingJson(waiting) })}\n`)
    else say(`${isOne ? '' : `${name}: `}${waitingLine(waiting, now)}`)
  }

  return (account, runs, sweep) => {
    if (sweep) tell(account, sweep, 'sweep', false)
    for (const run of runs) tell(account, run, 'job', runs.length === 1 && !sweep)
  }
}

/** Prints the end of a run. `disk`: the price of its stopped machine, in micro-dollars per hour. Gives the exit code. */
function ended({ json, write, say }: Call, run: ProjectRunView, disk: number | undefined): number {
  const { id, step, code, cost, downloadResult, problem, instance, moves, lost } = run
  if (json) {
    const brought = downloadResult?.files ?? 0
    const end = { job: id, step, exitCode: code ?? null, problem: problem ?? null }
    const went = { moves, trainingLost: lost?.seconds ?? 0 }
    write(`${JSON.stringify({ ...end, cost: cliDollars(cost.micros), brought, ...went })}\n`)
  } else {
    if (moves > 0) say(`${movesWords(run)}.`)
    if (problem) say([problem.message, problem.advice].filter(Boolean).join(' '))
    say(
      `${downloadResult ? `${counted(downloadResult.files, 'file')} downloaded. ` : ''}It cost ${money(cost.micros)}.`,
    )
    if (step === 'failed' && instance !== undefined)
      say(
        `Its disk is billed${disk === undefined ? '' : ` at ${rate(disk)}`} until you destroy it: berth destroy ${instance}`,
      )
  }
  if (step === 'done') return exitCodes.done
  if (step !== 'failed' || !code) return exitCodes.failed
  // The command's own code, unless that would read as one of Berth's.
  return Math.max(code, exitCodes.command)
}
