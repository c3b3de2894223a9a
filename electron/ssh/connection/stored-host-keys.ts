import * as v from 'valibot'
import { BerthError } from '#contract/problem.ts'
import type { Files } from '#machine/machine.ts'
import { oneAtATime } from '#machine/tasks.ts'
import { typeOf } from '../keys/openssh-key.ts'

/** Host keys by alias, on disk twice: in a file of Berth's, and in OpenSSH's own format for the system's ssh. */
export interface StoredHostKeys {
  /** The file in OpenSSH's format. */
  readonly path: string
  /** The keys in Berth's file. Throws `known_hosts_damaged`. */
  read(): Promise<HostKeys>
  /** The same, with the keys that the system's ssh added to its own file. Throws the same. */
  readAll(): Promise<HostKeys>
  /** Makes one change at a time, on disk when it resolves, and takes over keys that the system's ssh added. */
  change(edit: (hosts: HostKeys) => HostKeys): Promise<void>
}

const HostsFile = v.object({
  version: v.literal(1),
  hosts: v.record(v.string(), v.object({ key: v.string() })),
})
type HostsFile = v.InferOutput<typeof HostsFile>
export type HostKeys = HostsFile['hosts']

const fileName = 'known-hosts.json'
const sshName = 'known_hosts'

export function storedHostKeys(files: Files): StoredHostKeys {
  let stored: Promise<HostKeys> | undefined
  const inTurn = oneAtATime()

  function read(): Promise<HostKeys> {
    stored ??= readFile(files).catch(error => {
      stored = undefined
      throw error
    })
    return stored
  }

  async function readAll(): Promise<HostKeys> {
    const hosts = await read()
    return { ...hostsIn((await files.read(sshName)) ?? ''), ...hosts }
  }

  return {
    path: files.path(sshName),
    read,
    readAll,
    change: edit =>
      inTurn(async () => {
        const hosts = edit(await readAll())
        const file: HostsFile = { version: 1, hosts }
        await files.write(fileName, `${JSON.stringify(file, null, 2)}\n`)
        stored = Promise.resolve(hosts)
        await files.write(sshName, opensshText(hosts))
      }),
  }
}

async function readFile(files: Files): Promise<HostKeys> {
  const text = await files.read(fileName)
  if (text === undefined) return {}
  try {
    return v.parse(HostsFile, JSON.parse(text)).hosts
  } catch {
    // With an empty list, any key would be taken for an instance's first one.
    throw new BerthError({
      code: 'known_hosts_damaged',
      message: `The file of known host keys, ${files.path(fileName)}, can’t be read, so Berth can’t check any host.`,
      advice: 'Restore the file, or delete it to accept every host’s key anew.',
    })
  }
}

function opensshText(hosts: HostKeys): string {
  const lines = Object.entries(hosts).map(
    ([alias, { key }]) => `${alias} ${typeOf(Buffer.from(key, 'base64'))} ${key}\n`,
  )
  return `# Written by Berth: the host keys of instances, by account and instance.\n${lines.join('')}`
}

/** The keys under Berth's aliases in a text of OpenSSH's format. */
function hostsIn(text: string): HostKeys {
  const entries = text
    .split('\n')
    .map(line => line.trim().split(/\s+/))
    .filter(
      ([alias = '', , key = '']) => alias.startsWith('berth-') && typeOf(Buffer.from(key, 'base64')) !== '',
    )
  // ssh trusts any of several lines for one alias; the first one was seen first.
  return Object.fromEntries(entries.reverse().map(([alias = '', , key = '']) => [alias, { key }]))
}
