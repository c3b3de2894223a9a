import { setTimeout } from 'node:timers/promises'
import type { Call } from '../shell/command.ts'
import { Interrupted } from '../shell/sink.ts'

/** `whoami` */
export async function whoami({ out }: Call): Promise<number> {
  await out('root\n')
  return 0
}

/** `id` */
export async function id({ args, out }: Call): Promise<number> {
  await out(args.includes('-u') ? '0\n' : 'uid=0(root) gid=0(root) groups=0(root)\n')
  return 0
}

/** `hostname` */
export async function hostname({ shell, out }: Call): Promise<number> {
  await out(`${shell.machine.hostname}\n`)
  return 0
}

/** `uname [-a]` and its parts */
export async function uname({ args, shell, out }: Call): Promise<number> {
  const parts = [
    { flag: 's', value: 'Linux' },
    { flag: 'n', value: shell.machine.hostname },
    { flag: 'r', value: '6.8.0-48-generic' },
    { flag: 'v', value: '#48-Ubuntu SMP PREEMPT_DYNAMIC Fri Sep 27 14:04:52 UTC 2024' },
    { flag: 'm', value: 'x86_64' },
    { flag: 'p', value: 'x86_64' },
    { flag: 'i', value: 'x86_64' },
    { flag: 'o', value: 'GNU/Linux' },
  ]
  const flags = args.join('') || '-s'
  const chosen = parts.filter(({ flag }) => flags.includes(flag) || flags.includes('a'))
  await out(`${chosen.map(({ value }) => value).join(' ')}\n`)
  return 0
}

/** `nproc` */
export async function nproc({ shell, out }: Call): Promise<number> {
  await out(`${shell.machine.gpu.count * 16}\n`)
  return 0
}

/** `uptime` */
export async function uptime({ shell, out }: Call): Promise<number> {
  const load = ((shell.machine.utilisation() / 100) * shell.machine.gpu.count).toFixed(2)
  await out(
    ` ${new Date().toISOString().slice(11, 19)} up 1 user,  load average: ${load}, ${load}, ${load}\n`,
  )
  return 0
}

/** `date [+%s]` */
export async function date({ args, out }: Call): Promise<number> {
  const now = new Date()
  await out(`${args[0] === '+%s' ? Math.floor(now.getTime() / 1000) : now.toUTCString()}\n`)
  return 0
}

/** `env`, `printenv [NAME]` */
export async function env({ args, shell, out }: Call): Promise<number> {
  const [name] = args
  if (name !== undefined) {
    const value = shell.variables.get(name)
    if (value !== undefined) await out(`${value}\n`)
    return value === undefined ? 1 : 0
  }
  for (const [variable, value] of shell.variables) await out(`${variable}=${value}\n`)
  return 0
}

/** `export NAME=VALUE…` */
export async function exportVariable({ args, shell, err }: Call): Promise<number> {
  for (const arg of args) {
    const found = /^([A-Za-z_][A-Za-z0-9_]*)(?:=(.*))?$/s.exec(arg)
    if (found?.[1] === undefined) {
      await err(`bash: export: \`${arg}': not a valid identifier\n`)
      return 1
    }
    if (found[2] !== undefined) shell.variables.set(found[1], found[2])
  }
  return 0
}

/** `clear` */
export async function clear({ out }: Call): Promise<number> {
  await out('\x1b[H\x1b[2J\x1b[3J')
  return 0
}

/** `history` */
export async function history({ shell, out }: Call): Promise<number> {
  await out(shell.history.map((line, index) => `${String(index + 1).padStart(5)}  ${line}\n`).join(''))
  return 0
}

/** `sleep SECONDS` */
export async function sleep({ args, err, signal }: Call): Promise<number> {
  const seconds = Number(args[0])
  if (args.length === 0 || !(seconds >= 0)) {
    await err(`sleep: invalid time interval '${args[0] ?? ''}'\n`)
    return 1
  }
  await setTimeout(Math.min(seconds * 1000, 2 ** 31 - 1), undefined, { signal, ref: false }).catch(() => {
    throw new Interrupted()
  })
  return 0
}

/** `exit [STATUS]`: ends the shell, by default with the last command's status. */
export async function exit({ args, shell, err }: Call): Promise<number> {
  const status = args[0] === undefined ? shell.status : Number(args[0])
  if (!Number.isInteger(status)) {
    await err(`bash: exit: ${args[0]}: numeric argument required\n`)
    shell.ending = 2
  } else {
    shell.ending = status & 255
  }
  return shell.ending
}

/** `help` */
export async function help({ out }: Call, names: Iterable<string>): Promise<number> {
  const all = [...names].join('  ').replace(/(.{1,70})(?: {2}|$)/g, '  $1\n')
  await out(
    `This shell is scripted: it runs no programs, and its files are a scratch folder. It knows:\n${all}`,
  )
  await out('Lines may use quotes, $NAME, ; && || |, and < > >> into files.\n')
  return 0
}
