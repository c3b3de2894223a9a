import { writeFileSync } from 'node:fs'
import type { Call } from '../shell/command.ts'
import { makeFolder, type Values } from './runs.ts'

const folder = '/root/.berth/watchdog'

/** Places a watchdog, or gives it another configuration, and prints its status. */
export async function putWatchdog(call: Call, values: Values): Promise<number> {
  call.shell.machine.watchdog.put(values.get('config') ?? '', values.get('lease') ?? '')
  return readWatchdog(call, new Map())
}

/** Renews the lease where a text is given, and prints the status. Writes the log's file, as a real one does. */
export async function readWatchdog({ shell, out }: Call, values: Values): Promise<number> {
  const { watchdog } = shell.machine
  watchdog.renew(values.get('lease') ?? '')
  const there = watchdog.read()
  if (!there) {
    await out('there no\n')
    return 0
  }
  makeFolder(shell, folder)
  writeFileSync(shell.files.at(`${folder}/log`, 'follow').real, `${there.log.join('\n')}\n`)
  const prefixed = (prefix: string, lines: readonly string[]) =>
    lines.map(line => `${prefix}.${line.replace('=', ' ')}`)
  const config = prefixed('config', [...there.config.split('\n'), 'key=container'])
  const did = there.did === undefined ? [] : [`done ${there.did}`]
  const lines = ['there yes', 'alive yes', ...config, ...prefixed('state', there.state), ...did]
  await out(`${lines.join('\n')}\n`)
  return 0
}

export async function removeWatchdog({ shell, out }: Call): Promise<number> {
  shell.machine.watchdog.remove()
  await out('removed yes\n')
  return 0
}
