import type { Command } from '../shell/command.ts'
import { bash, source } from './bash.ts'
import { grep, head, tail, wc } from './filters.ts'
import { cd, df, ls, mkdir, mv, pwd, rm, touch } from './folders.ts'
import { jupyter } from './jupyter.ts'
import { nvidiaSmi } from './nvidia-smi.ts'
import { pip, python } from './python.ts'
import {
  clear,
  date,
  env,
  exit,
  exportVariable,
  help,
  history,
  hostname,
  id,
  nproc,
  sleep,
  uname,
  uptime,
  whoami,
} from './system.ts'
import { cat, echo, printf, seq, yes } from './text.ts'

/** Every command of the shell by name, as `help` lists them. */
export const commands: ReadonlyMap<string, Command> = new Map<string, Command>([
  ['.', source],
  ['bash', bash],
  ['cat', cat],
  ['cd', cd],
  ['clear', clear],
  ['date', date],
  ['df', df],
  ['echo', echo],
  ['env', env],
  ['exit', exit],
  ['export', exportVariable],
  ['false', async () => 1],
  ['grep', grep],
  ['head', head],
  ['help', call => help(call, commands.keys())],
  ['history', history],
  ['hostname', hostname],
  ['id', id],
  ['jupyter', jupyter],
  ['logout', exit],
  ['ls', ls],
  ['mkdir', mkdir],
  ['mv', mv],
  ['nproc', nproc],
  ['nvidia-smi', nvidiaSmi],
  ['pip', pip],
  ['printenv', env],
  ['printf', printf],
  ['pwd', pwd],
  ['python', python],
  ['python3', python],
  ['rm', rm],
  ['seq', seq],
  ['sh', bash],
  ['sleep', sleep],
  ['tail', tail],
  ['touch', touch],
  ['true', async () => 0],
  ['umask', async () => 0],
  ['uname', uname],
  ['uptime', uptime],
  ['wc', wc],
  ['whoami', whoami],
  ['yes', yes],
])
