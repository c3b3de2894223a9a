import type { CliCommand } from './call.ts'
import { cliCommands, shells } from './commands.ts'
import { optionsOf } from './options.ts'

/** The help of the command as a whole. */
export function help(): string {
  const commands = Object.entries(cliCommands).map(
    ([name, { operands, summary }]) => [`${name} ${operands}`, summary] as const,
  )
  return [
    'Usage: berth COMMAND',
    '',
    'Commands:',
    ...listed([...commands, [`completion ${shells.join('|')}`, 'Print a completion script for that shell']]),
    '',
    'INSTANCE is a number or a label. Options:',
    ...listed(optionLines([])),
    '',
    'Exit codes: 0 done, 1 failed, 2 wrong usage, 3 Berth isn’t running, 4 needs an answer or is another user’s,',
    '5 no such instance, run, project or account. With --json an error is {"error": {"code", "message", "advice"}}.',
    '',
  ].join('\n')
}

/** The help of one subcommand. */
export function helpOf(name: string, { operands, summary, options }: CliCommand): string {
  return [
    `Usage: berth ${name} [OPTIONS] ${operands}`.trimEnd(),
    '',
    `${summary}.`,
    '',
    ...listed(optionLines(options)),
    '',
  ].join('\n')
}

function optionLines(names: CliCommand['options']): [string, string][] {
  return optionsOf(names).map(([, { usage, summary }]) => [usage, summary])
}

function listed(lines: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...lines.map(([what]) => what.trimEnd().length))
  return lines.map(([what, words]) => `  ${what.trimEnd().padEnd(width)}  ${words}`)
}
