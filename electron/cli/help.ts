import type { CliCommand } from './call.ts'
import { cliCommands, optionSummaries, shells } from './commands.ts'

const always = [
  ['--no-start', 'Fail where Berth does not run, instead of starting it'],
  ['-h, --help', 'Show this help'],
] as const

const flags = {
  account: '--account ACCOUNT',
  json: '--json',
  yes: '--yes',
  follow: '-f, --follow',
  quiet: '-q, --quiet',
  'secret-files': '--secret-files send|skip',
} as const

/** All that the command can do. */
export function help(): string {
  const commands = Object.entries(cliCommands).map(
    ([name, { operands, summary }]) => [`${name} ${operands}`, summary] as const,
  )
  return [
    'Usage: berth COMMAND',
    '',
    'Commands:',
    ...listed([
      ...commands,
      [`completion ${shells.join('|')}`, 'Print what completes commands in that shell'],
    ]),
    '',
    'INSTANCE is a number or a label. Options:',
    ...listed(always),
    '',
    'Exit codes: 0 done, 1 failed, 2 wrong usage, 3 Berth does not run, 4 needs an answer or is another user’s,',
    '5 no such instance, run, project or account. With --json an error is {"error": {"code", "message", "advice"}}.',
    '',
  ].join('\n')
}

/** How one subcommand is used. */
export function helpOf(name: string, { operands, summary, options }: CliCommand): string {
  return [
    `Usage: berth ${name} [OPTIONS] ${operands}`.trimEnd(),
    '',
    `${summary}.`,
    '',
    ...listed([...options.map(option => [flags[option], optionSummaries[option]] as const), ...always]),
    '',
  ].join('\n')
}

function listed(lines: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...lines.map(([what]) => what.trimEnd().length))
  return lines.map(([what, words]) => `  ${what.trimEnd().padEnd(width)}  ${words}`)
}
