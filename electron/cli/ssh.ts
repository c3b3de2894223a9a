import { type CliCommand, findInstance, polledState, print } from './call.ts'
import { CliFailure, exitCodes } from './failure.ts'

export const ssh: CliCommand = {
  operands: 'INSTANCE [-- COMMAND...]',
  takes: [1, Number.POSITIVE_INFINITY],
  summary: 'Open a shell on an instance, or run a command there, with the system’s ssh',
  options: ['account', 'json'],
  async run(call) {
    const [word = '', ...command] = call.operands
    const { account, instance } = findInstance(call, await polledState(call), word)
    const on = { account: account.id, instance: instance.id, opens: !call.json }
    const args = await call.connection.local('sshArguments', on)
    const all = [...args, ...command]
    if (call.json) {
      print(call, { arguments: all })
      return undefined
    }
    // Berth may end while the shell is open.
    call.connection.close()
    return runSsh(all)
  },
}

/** Runs ssh in place of this command: passes its exit code on, and signals to it. */
async function runSsh([program = 'ssh', ...args]: readonly string[]): Promise<number> {
  const { spawn } = await import('node:child_process')
  const child = spawn(program, args, { stdio: 'inherit' })
  // The terminal sends Ctrl+C to ssh itself.
  process.on('SIGINT', () => undefined)
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal))
  return new Promise((resolve, reject) => {
    child.once('error', () =>
      reject(
        new CliFailure(exitCodes.failed, {
          code: 'no_ssh',
          message: 'The system’s ssh couldn’t be started.',
        }),
      ),
    )
    child.once('exit', code => resolve(code ?? exitCodes.failed))
  })
}
