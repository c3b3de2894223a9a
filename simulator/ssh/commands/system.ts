import { setTimeout } from 'node:timers/promises'
import type { Call, Command, ShellState } from '../shell/command.ts'
import { Interrupted } from '../shell/sink.ts'

/** A command that always prints the same of a shell. */
export function says(text: (shell: ShellState) => string): Command {
  return async ({ shell, out }) => {
    await out(text(shell))
    return 0
  }
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

/** `hostname`, and `hostname -I` with its addresses. */
export async function hostname({ args, shell, out }: Call): Promise<number> {
  const addresses = interfaces(shell).map(([, address]) => address)
  await out(args[0] === '-I' ? `${addresses.join(' ')} \n` : `${shell.machine.hostname}\n`)
  return 0
}

/** `ip -o -4 addr`: its addresses, one a line. */
export async function ip({ args, shell, out, err }: Call): Promise<number> {
  if (!args.some(arg => /^a(ddr(ess)?)?$/.test(arg))) {
    await err('ip: only `ip -o -4 addr` is available here\n')
    return 1
  }
  const lines = [['lo', '127.0.0.1'], ...interfaces(shell)].map(
    ([name, address], index) => `${index + 1}: ${name}    inet ${address}/24 scope global ${name}\n`,
  )
  await out(lines.join(''))
  return 0
}

/** Names and addresses: within an overlay, that comes first and the way out second. */
function interfaces({ machine }: ShellState): [string, string][] {
  const overlay = machine.overlayAddress()
  const outside = `172.17.0.${2 + (machine.instanceId % 250)}`
  return overlay === undefined
    ? [['eth0', outside]]
    : [
        ['eth0', overlay],
        ['eth1', outside],
      ]
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
  if (!Number.isInteger(status)) await err(`bash: exit: ${args[0]}: numeric argument required\n`)
  shell.ending = Number.isInteger(status) ? status & 255 : 2
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

/** `jupyter server list [--json]`, which shows its token over SSH. */
export async function jupyter({ args, shell, out, err }: Call): Promise<number> {
  const [kind, action, form] = args
  if ((kind !== 'server' && kind !== 'notebook') || action !== 'list') {
    await err('jupyter: only `jupyter server list [--json]` is available here\n')
    return 2
  }
  const { jupyterToken: token } = shell.machine
  const server = {
    base_url: '/',
    hostname: 'localhost',
    password: false,
    pid: 212,
    port: 8080,
    root_dir: '/workspace',
    secure: false,
    sock: '',
    token,
    url: 'http://localhost:8080/',
    version: '2.14.2',
  }
  if (form === '--json') await out(`${JSON.stringify(server)}\n`)
  else await out(`Currently running servers:\nhttp://localhost:8080/?token=${token} :: /workspace\n`)
  return 0
}
