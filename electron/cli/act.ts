import { type EndingView, endingWords } from '../shared/automation/ending.ts'
import { dangers } from '../shared/danger.ts'
import { accountNow } from '../shared/derived.ts'
import { instanceName } from '../shared/format/name.ts'
import type { Problem } from '../shared/problem.ts'
import type { State } from '../shared/state.ts'
import { awaitEnds } from './await-ends.ts'
import {
  accountsOf,
  type Call,
  type CliCommand,
  type FoundInstance,
  findInstance,
  polledState,
  print,
} from './call.ts'
import { CliFailure, exitCodes, usageFailure } from './failure.ts'
import { stopProject } from './project-runs.ts'

interface Action {
  summary: string
  /** `Stopped`. */
  pastTense: string
  tell(call: Call, on: FoundInstance): Promise<void>
  /** The possible losses, for actions that need `--yes`. */
  loses?(names: string): string
}

/** Why nothing, or nothing yet, was done with one operand. */
interface Failure {
  operand: string
  failure: CliFailure
}

/** A subcommand that acts on several instances: each is tried, whatever becomes of the others. */
function acting({ summary, pastTense, tell, loses }: Action): CliCommand {
  return {
    operands: 'INSTANCE...',
    takes: [1, Number.POSITIVE_INFINITY],
    summary,
    options: ['account', 'json', ...(loses ? (['yes'] as const) : [])],
    async run(call) {
      const { found, unknown } = await findAll(call)
      if (loses && !call.yes && found.length > 0) {
        const message = loses(found.map(({ instance }) => instanceName(instance)).join(', '))
        throw new CliFailure(exitCodes.refused, { code: 'needs_yes', message, advice: 'Confirm with --yes.' })
      }
      const done: FoundInstance[] = []
      const failures: Failure[] = [...unknown]
      await Promise.all(
        found.map(async one => {
          const name = instanceName(one.instance)
          const failure = await failureOf(actOn(call, one, tell))
          if (failure) failures.push({ operand: name, failure })
          else done.push(one)
          if (!failure && !call.json) call.write(`${pastTense} ${name}\n`)
        }),
      )
      const [first] = failures
      if (first && call.operands.length === 1) throw first.failure
      const failed = failures.length > 0 ? { failed: failures.map(failureJson) } : {}
      if (call.json) print(call, { instances: done.map(idsOf), ...failed })
      for (const { operand, failure } of failures) call.say(`${operand}: ${sentence(failure.problem)}`)
      return failures.length > 0 ? exitCodes.failed : undefined
    },
  }
}

/** The instances of all operands, each once. One that is unknown may have been rented elsewhere a moment ago. */
async function findAll(call: Call): Promise<{ found: FoundInstance[]; unknown: Failure[] }> {
  const first = findEach(call, await polledState(call))
  if (first.unknown.length === 0) return first
  const accounts = accountsOf(call, await call.connection.state())
  await Promise.allSettled(accounts.map(({ id }) => call.connection.command('refresh', { account: id })))
  return findEach(call, await call.connection.state())
}

function findEach(call: Call, state: State): { found: FoundInstance[]; unknown: Failure[] } {
  const found = new Map<string, FoundInstance>()
  const unknown: Failure[] = []
  for (const operand of call.operands) {
    try {
      const one = findInstance(call, state, operand)
      found.set(`${one.account.id}/${one.instance.id}`, one)
    } catch (error) {
      if (!(error instanceof CliFailure)) throw error
      unknown.push({ operand, failure: error })
    }
  }
  return { found: [...found.values()], unknown }
}

async function failureOf(act: Promise<void>): Promise<CliFailure | undefined> {
  try {
    await act
    return undefined
  } catch (error) {
    if (error instanceof CliFailure) return error
    throw error
  }
}

/** Resolves once it is done: a stop or destroy once a fresh reading shows it, also where a request failed first. */
async function actOn(call: Call, on: FoundInstance, tell: Action['tell']): Promise<void> {
  const { connection } = call
  const { account, instance } = on
  const failure = await failureOf(tell(call, on))
  let ending: EndingView | undefined
  let said = false
  async function isOver(): Promise<boolean> {
    const pending = (await connection.state()).accounts[account.id]?.endings[instance.id]
    if (pending && pending.phase !== 'requested' && !said) {
      said = true
      const problem = pending.problem === undefined ? '' : `: ${pending.problem}`
      remark(call, on, `${endingWords(pending)}${problem}`)
    }
    if (failure && !pending && !ending) throw failure
    ending = pending
    return !pending
  }
  await awaitEnds(connection, isOver, () => ({
    words: ending ? endingWords(ending) : '',
    problem: ending?.problem,
  }))
}

/** A word on the way; none with --json, where stderr has the error alone. */
function remark({ json, say }: Call, { instance }: FoundInstance, line: string): void {
  if (!json) say(`${instanceName(instance)}: ${line}`)
}

function sentence({ message, advice }: Problem): string {
  return advice ? `${message} ${advice}` : message
}

function idsOf({ account, instance }: FoundInstance) {
  return { account: account.id, id: instance.id }
}

function failureJson({ operand, failure: { problem } }: Failure) {
  return { operand, code: problem.code, message: problem.message }
}

/** A command that only needs the instance. */
const sending =
  (command: 'stopInstance' | 'destroyInstance'): Action['tell'] =>
  ({ connection }, { account, instance }) =>
    connection.command(command, { account: account.id, instance: instance.id })

export const start = acting({
  summary: 'Start stopped instances',
  pastTense: 'Started',
  async tell(call, on) {
    const { connection } = call
    const { account, instance } = on
    const say = (line: string) => remark(call, on, line)
    const now = accountNow(account.clock, Date.now())
    const question = dangers.start.question(account, { instances: [instance] }, now)
    for (const line of question?.lines ?? []) say(line)
    await connection.command('startInstance', { account: account.id, instance: instance.id })
    const { limits = {} } = (await connection.state()).accounts[account.id] ?? {}
    for (const { id, instance: limited, sentence } of Object.values(limits))
      if (limited === instance.id && !account.limits[id])
        say(`The limit that it had is set again. ${sentence}`)
  },
})

const stopInstances = acting({
  summary: 'Stop instances; disks are still billed',
  pastTense: 'Stopped',
  tell: sending('stopInstance'),
})

export const stop: CliCommand = {
  ...stopInstances,
  operands: 'INSTANCE...|PROJECT',
  summary: 'Stop instances (disks are still billed), or destroy the machines of a project’s runs',
  takes: [0, Number.POSITIVE_INFINITY],
  options: [...stopInstances.options, 'yes', 'agents'],
  async run(call) {
    if (call.agents) return stopAgents(call)
    if (call.operands.length === 0) throw usageFailure('berth stop takes INSTANCE...|PROJECT, or --agents.')
    const [word = '', ...more] = call.operands
    const state = await polledState(call)
    const isInstance = accountsOf(call, state).some(({ instances }) =>
      Object.values(instances).some(
        ({ id, label }) => label === word || String(id) === word.replace('#', ''),
      ),
    )
    if (more.length === 0 && (await stopProject(call, state, word, isInstance))) return undefined
    return stopInstances.run(call)
  },
}

/** Stops what agents rented on each account. */
async function stopAgents(call: Call): Promise<number> {
  if (call.operands.length > 0) throw usageFailure('berth stop --agents takes no more arguments.')
  const accounts = accountsOf(call, await polledState(call))
  const done = await Promise.all(
    accounts.map(async ({ id }) => ({
      account: id,
      ...(await call.connection.command('stopAgents', { account: id })),
    })),
  )
  const instances = done.flatMap(({ account, stopped }) => stopped.map(id => ({ account, id })))
  const failed = done.flatMap(one => one.failed)
  if (call.json) print(call, { instances })
  else for (const { id } of instances) call.write(`Stopped #${id}\n`)
  for (const id of failed) call.say(`#${id} isn’t stopped yet. Berth keeps trying while it runs.`)
  return failed.length > 0 ? exitCodes.failed : exitCodes.done
}

export const destroy = acting({
  summary: 'Destroy instances and all their files',
  pastTense: 'Destroyed',
  tell: sending('destroyInstance'),
  loses: names => `All files on ${names} would be lost.`,
})
