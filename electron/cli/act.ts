import { instanceName } from '../contract/format/name.ts'
import { accountsOf, type CliCommand, findInstance, polledState, print } from './call.ts'
import type { BerthConnection } from './connection.ts'
import { CliFailure, exitCodes } from './failure.ts'
import { stopProject } from './project-runs.ts'

type OnInstance = { account: string; instance: number }

interface Action {
  summary: string
  /** `Stopped`. */
  pastTense: string
  tell(connection: BerthConnection, on: OnInstance): Promise<void>
  /** The possible losses, for actions that need `--yes`. */
  loses?(names: string): string
}

/** A subcommand that acts at once, on one instance after the other. */
function acting({ summary, pastTense, tell, loses }: Action): CliCommand {
  return {
    operands: 'INSTANCE...',
    takes: [1, Number.POSITIVE_INFINITY],
    summary,
    options: ['account', 'json', ...(loses ? (['yes'] as const) : [])],
    async run(call) {
      const state = await polledState(call)
      const found = call.operands.map(word => findInstance(call, state, word))
      if (loses && !call.yes) {
        const message = loses(found.map(({ instance }) => instanceName(instance)).join(', '))
        throw new CliFailure(exitCodes.refused, { code: 'needs_yes', message, advice: 'Confirm with --yes.' })
      }
      const done = []
      for (const { account, instance } of found) {
        await tell(call.connection, { account: account.id, instance: instance.id })
        done.push({ account: account.id, id: instance.id })
        if (!call.json) call.write(`${pastTense} ${instanceName(instance)}\n`)
      }
      if (call.json) print(call, { instances: done })
      return undefined
    },
  }
}

export const start = acting({
  summary: 'Start stopped instances',
  pastTense: 'Started',
  tell: (connection, on) => connection.command('startInstance', on),
})

const stopInstances = acting({
  summary: 'Stop instances; disks are still billed',
  pastTense: 'Stopped',
  tell: (connection, on) => connection.command('stopInstance', on),
})

export const stop: CliCommand = {
  ...stopInstances,
  operands: 'INSTANCE...|PROJECT',
  summary: 'Stop instances (disks are still billed), or destroy the machines of a project’s runs',
  options: [...stopInstances.options, 'yes'],
  async run(call) {
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

export const destroy = acting({
  summary: 'Destroy instances and all their files',
  pastTense: 'Destroyed',
  tell: (connection, on) => connection.command('destroyInstance', on),
  loses: names => `All files on ${names} would be lost.`,
})
