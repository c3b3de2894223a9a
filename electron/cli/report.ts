import { instanceName } from '#shared/format/name.ts'
import { machineProblems } from '#shared/instance/machine-report.ts'
import { type CliCommand, findInstance, polledState, print } from './call.ts'
import { usageFailure } from './failure.ts'

const words = machineProblems.map(problem => `"${problem}"`).join(', ')

export const report: CliCommand = {
  operands: 'INSTANCE PROBLEM',
  takes: [2, 2],
  summary: `Report an instance’s machine to the service and its host; PROBLEM is one of ${words}`,
  options: ['message', 'account', 'json'],
  async run(call) {
    const [word = '', what = ''] = call.operands
    const problem = machineProblems.find(each => each.toLowerCase() === what.toLowerCase())
    if (problem === undefined) throw usageFailure(`PROBLEM is one of ${words}.`)
    const { account, instance } = findInstance(call, await polledState(call), word)
    const on = { account: account.id, instance: instance.id }
    await call.connection.command('reportMachine', {
      ...on,
      report: { problem, message: call.given.message ?? '' },
    })
    if (call.json) print(call, { ...on, reported: problem })
    else call.write(`Reported the machine of ${instanceName(instance)}\n`)
    return undefined
  },
}
