import type { Command } from '../shell/command.ts'
import { bash, source } from './bash.ts'
import { cd, df, ls, mkdir, mv, rm } from './folders.ts'
import { nvidiaSmi } from './nvidia-smi.ts'
import { python } from './python.ts'
import { exit, exportVariable, help, hostname, ip, jupyter, says, sleep } from './system.ts'
import { cat, echo, printf, tail } from './text.ts'

/** Every command of the shell by name, as `help` lists them: those that Berth sends, and those of a first look. */
export const commands: ReadonlyMap<string, Command> = new Map<string, Command>([
  ['.', source],
  ['bash', bash],
  ['cat', cat],
  ['cd', cd],
  ['clear', says(() => '\x1b[H\x1b[2J\x1b[3J')],
  ['df', df],
  ['echo', echo],
  ['env', says(({ variables }) => [...variables].map(([name, value]) => `${name}=${value}\n`).join(''))],
  ['exit', exit],
  ['export', exportVariable],
  ['false', async () => 1],
  ['help', call => help(call, commands.keys())],
  ['hostname', hostname],
  ['ip', ip],
  ['jupyter', jupyter],
  ['logout', exit],
  ['ls', ls],
  ['mkdir', mkdir],
  ['mv', mv],
  ['nvidia-smi', nvidiaSmi],
  ['pip', says(() => 'All requirements are already satisfied\n')],
  ['printf', printf],
  ['pwd', says(({ folder }) => `${folder}\n`)],
  ['python', python],
  ['python3', python],
  ['rm', rm],
  ['sh', bash],
  ['sleep', sleep],
  ['tail', tail],
  ['true', async () => 0],
  ['umask', async () => 0],
  ['uname', says(() => 'Linux\n')],
  ['whoami', says(() => 'root\n')],
])
