import { destroy, start, stop } from './act.ts'
import { open, quit } from './app.ts'
import type { CliCommand, OptionName } from './call.ts'
import { logs } from './logs.ts'
import { project } from './project.ts'
import { ps } from './ps.ts'
import { run } from './run-project.ts'
import { spend } from './spend.ts'
import { ssh } from './ssh.ts'

/** Every subcommand that asks Berth, by its name, as the help lists them. */
export const cliCommands: Readonly<Record<string, CliCommand>> = {
  ps,
  ssh,
  start,
  stop,
  destroy,
  run,
  project,
  logs,
  spend,
  open,
  quit,
}

/** What each option means. All subcommands have `--help` and `--no-start`. */
export const optionSummaries: Readonly<Record<OptionName, string>> = {
  account: 'Of that account alone, by its name or id',
  json: 'Print JSON',
  yes: 'Confirm',
  follow: 'Go on until it is over',
  quiet: 'Print ids alone',
  'secret-files': 'Send files that look like secrets, or leave them here',
}

export const shells = ['bash', 'zsh', 'fish'] as const
