import { absolute, type Call, type Command } from '../shell/command.ts'
import { readRegular } from '../shell/redirect.ts'
import { scriptFromInput, scriptFromLine } from './scripts.ts'

/** The scripts after `-c` that are beyond this shell, by their beginning. It does the same as they do. */
const scripts: readonly [RegExp, Command][] = [
  [/^IFS= read -r script /, scriptFromLine],
  // Prints which programs a run has left behind: here none can be.
  [/^\s*read -r pid < /, async () => 0],
]

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
  const script = scripts.find(([beginning]) => beginning.test(line))
  if (script) return script[1](call)
  if (line.length > 64 * 1024) return 126
  const inner = { ...shell, variables: new Map(shell.variables), ending: undefined }
  return run(inner, line, streams)
}

/** `. FILE`: runs its lines in this shell. */
export async function source({ args, shell, run, ...streams }: Call): Promise<number> {
  const text = readRegular(shell.files, absolute(shell, args[0] ?? '')).toString('utf8')
  return text === '' ? 0 : run(shell, text, streams)
}
