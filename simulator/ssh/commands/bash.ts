import type { Call } from '../shell/command.ts'
import { scriptFromInput } from './scripts.ts'

/** `bash -c LINE`: the same scripted shell, with its own folder and variables. Clients wrap commands in it. */
export async function bash(call: Call): Promise<number> {
  const { name, args, shell, run, ...streams } = call
  if (args[0] === '-s') return scriptFromInput(call)
  const flag = args.findIndex(arg => /^-[a-z]*c$/.test(arg))
  const line = args[flag + 1]
  if (flag < 0 || line === undefined) {
    await streams.err(`${name}: only \`${name} -c COMMAND\` is available here\n`)
    return 2
  }
  if (line.length > 64 * 1024) return 126
  const inner = { ...shell, variables: new Map(shell.variables), ending: undefined }
  return run(inner, line, streams)
}
