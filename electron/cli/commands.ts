import { destroy, start, stop } from './act.ts'
import type { CliCommand } from './call.ts'
import { doctor } from './doctor.ts'
import { logs } from './logs.ts'
import { open, quit } from './open-and-quit.ts'
import { project } from './project.ts'
import { ps } from './ps.ts'
import { run } from './run-project.ts'
import { spend } from './spend.ts'
import { ssh } from './ssh.ts'

/** The subcommands that talk to Berth, in the order of the help. */
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
  doctor,
  open,
  quit,
}

export const shells = ['bash', 'zsh', 'fish'] as const
