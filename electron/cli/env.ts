import { text } from 'node:stream/consumers'
import { type Call, type CliCommand, print } from './call.ts'
import { usageFailure } from './failure.ts'
import { shownAccount } from './market.ts'

export const env: CliCommand = {
  operands: '[set NAME[=VALUE] | rm NAME]',
  takes: [0, 2],
  summary:
    'List the names of the account’s environment variables, which every new container gets; ' +
    'set one, by default to what stdin has, or remove one',
  options: ['account', 'json'],
  async run(call) {
    const [verb, word] = call.operands
    const { account } = await shownAccount(call)
    if (verb === 'set' && word !== undefined) await set(call, account.id, word)
    else if (verb === 'rm' && word !== undefined)
      await call.connection.command('deleteVariable', { account: account.id, name: word })
    else if (verb !== undefined) throw usageFailure('berth env takes nothing, set NAME[=VALUE], or rm NAME.')
    const variables = await call.connection.command('listVariables', { account: account.id })
    if (call.json) print(call, { account: account.id, variables: variables.map(name => ({ name })) })
    else for (const name of variables) call.write(`${name}\n`)
    return undefined
  },
}

/** A value on the command line is seen by other programs; one on stdin is not. */
async function set({ connection }: Call, account: string, word: string): Promise<void> {
  const equals = word.indexOf('=')
  const name = equals < 0 ? word : word.slice(0, equals)
  const value = equals < 0 ? (await text(process.stdin)).replace(/\r?\n$/, '') : word.slice(equals + 1)
  const known = await connection.command('listVariables', { account })
  // Deployments store names in capitals.
  const isThere = known.some(other => other.toUpperCase() === name.trim().toUpperCase())
  await connection.command(isThere ? 'changeVariable' : 'addVariable', { account, name, value })
}
