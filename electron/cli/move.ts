import { isGoing, isProjectRun, notMovable, type ProjectRunView } from '../shared/automation/run.ts'
import { accountNow } from '../shared/derived.ts'
import { runDangers } from '../shared/run-dangers.ts'
import type { AccountView, State } from '../shared/state.ts'
import { accountsOf, type Call, type CliCommand, findInstance, polledState, print } from './call.ts'
import { CliFailure, exitCodes, usageFailure } from './failure.ts'
import { findProject } from './project.ts'

interface FoundRun {
  account: AccountView
  run: ProjectRunView
}

export const move: CliCommand = {
  operands: 'RUN|INSTANCE|PROJECT',
  takes: [1, 1],
  summary: 'Move a run to another machine with its results',
  options: ['account', 'json', 'yes'],
  async run(call) {
    const [word = ''] = call.operands
    const { account, run } = await findRun(call, await polledState(call), word)
    if (!run.isMovable) throw new CliFailure(exitCodes.failed, notMovable)
    const asked = runDangers.moveRun.question(account, { run }, accountNow(account.clock, Date.now()))
    if (asked && !call.yes)
      throw new CliFailure(exitCodes.refused, {
        code: 'needs_yes',
        message: asked.lines.join(' '),
        advice: 'Confirm with --yes.',
      })
    await call.connection.command('moveRun', { account: account.id, run: run.id })
    if (call.json) print(call, { account: account.id, job: run.id, from: run.instance ?? null })
    else call.write(`${run.name} moves to another machine. To follow it: berth logs -f ${run.id}\n`)
    return undefined
  },
}

/** A run in progress by its id, its machine, or its project where that has just one. */
async function findRun(call: Call, state: State, word: string): Promise<FoundRun> {
  const all = accountsOf(call, state).flatMap(account =>
    Object.values(account.runs)
      .filter(isProjectRun)
      .filter(isGoing)
      .map(run => ({ account, run })),
  )
  const named = all.filter(({ run }) => run.id === word)
  const project = named.length > 0 ? undefined : await findProject(state, word)
  const found = named.length > 0 ? named : all.filter(({ run }) => run.project === project)
  const [first, ...more] = found
  if (more.length > 0)
    throw usageFailure(
      `${word} has ${found.length} runs in progress: ${found.map(({ run }) => run.id).join(', ')}. Use the id of one.`,
    )
  if (first) return first
  if (project === undefined && /^x[0-9a-f]{16}$/.test(word))
    throw new CliFailure(exitCodes.unknown, {
      code: 'no_such_run',
      message: `No run in progress has the id ${word}.`,
    })
  if (project !== undefined)
    throw new CliFailure(exitCodes.failed, {
      code: 'not_running',
      message: `${word} has no run in progress.`,
    })
  const { account, instance } = findInstance(call, state, word)
  const there = all.find(({ account: { id }, run }) => id === account.id && run.instance === instance.id)
  if (there) return there
  throw new CliFailure(exitCodes.failed, { code: 'not_running', message: `${word} has no run in progress.` })
}
