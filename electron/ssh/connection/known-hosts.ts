import * as v from 'valibot'
import type { Files } from '#platform/platform.ts'
import { oneAtATime } from '#platform/tasks.ts'
import { BerthError, type Problem } from '#shared/problem.ts'
import { fingerprintOf, typeOf } from '../keys/openssh-key.ts'

/**
 * The host key of each instance, by account and instance rather than by host and port, since proxies give the same
 * port to one machine after another.
 */
export type KnownHosts = ReturnType<typeof openKnownHosts>

const mostRefused = 8

/** The `HostKeyAlias` of an instance: the name of its host key in the OpenSSH file, whatever its address. */
export function hostKeyAlias(account: string, instance: number): string {
  return `${aliasPrefix(account)}${instance}`
}

function aliasPrefix(account: string): string {
  return `berth-${account}-`
}

/** `nameOf` gives the name of an instance that the user sees. */
export function openKnownHosts(
  files: Files,
  nameOf: (account: string, instance: number) => string = hostKeyAlias,
) {
  /** The last keys refused since Berth started, by alias: an instance can be tried at several addresses. */
  const refused = new Map<string, Buffer[]>()
  const stored = storedHostKeys(files)

  async function find(alias: string): Promise<Buffer | undefined> {
    const entry = (await stored.read())[alias]
    return entry === undefined ? undefined : Buffer.from(entry.key, 'base64')
  }

  async function known(account: string, instance: number): Promise<Buffer | undefined> {
    const alias = hostKeyAlias(account, instance)
    const key = await find(alias)
    if (key !== undefined || (await stored.readAll())[alias] === undefined) return key
    await stored.change(hosts => hosts)
    return find(alias)
  }

  function refuse(alias: string, offered: Buffer): void {
    const others = (refused.get(alias) ?? []).filter(other => !other.equals(offered))
    refused.set(alias, [...others, offered].slice(-mostRefused))
  }

  async function verify(account: string, instance: number, offered: Buffer): Promise<'known' | 'new'> {
    const key = await known(account, instance)
    if (key === undefined) return 'new'
    if (key.equals(offered)) return 'known'
    refuse(hostKeyAlias(account, instance), offered)
    throw new BerthError(changed(key, offered))
  }

  /** The other instances that have this key, those of other accounts first: they matter most. */
  async function holders(account: string, instance: number, key: Buffer): Promise<HostKeyHolder[]> {
    const all = holdersIn(await stored.readAll(), hostKeyAlias(account, instance), key).map(holderOf)
    return all.sort((one, other) => Number(one.account === account) - Number(other.account === account))
  }

  function holderOf(alias: string): HostKeyHolder {
    const [, account, instance] = /^berth-(.+)-(\d+)$/.exec(alias) ?? []
    if (account === undefined) return { name: alias }
    return { name: nameOf(account, Number(instance)), account, instance: Number(instance) }
  }

  return {
    /** The file in OpenSSH's own format, for the system's ssh. */
    path: stored.path,
    /** The known key's bytes; undefined if none is known. */
    known,
    /**
     * Compares the key that a host offers with the known one; `new` if none is known.
     * Throws `host_key_changed` with the facts `known` and `offered`, both SHA256 fingerprints.
     */
    verify,
    /**
     * Stores the first key seen, and resolves with the instances that had it before. If there are any, `tell` says first
     * which of them answered: resolves with `own`, and throws where it is another. With `unknown` this throws
     * `host_key_known_elsewhere` with the fact `offered`. Throws as `verify` does, too.
     */
    async remember(
      account: string,
      instance: number,
      key: Buffer,
      tell: (others: readonly HostKeyHolder[]) => Promise<'own' | 'unknown'>,
    ): Promise<readonly HostKeyHolder[]> {
      const alias = hostKeyAlias(account, instance)
      const store = (isOwn: boolean) =>
        stored.change(hosts =>
          hosts[alias] || (!isOwn && holdersIn(hosts, alias, key).length > 0)
            ? hosts
            : { ...hosts, [alias]: { key: key.toString('base64') } },
        )
      if ((await verify(account, instance, key)) === 'known') return holders(account, instance, key)
      await store(false)
      if ((await verify(account, instance, key)) === 'known') return []
      const others = await holders(account, instance, key)
      if ((await tell(others)) === 'unknown') {
        refuse(alias, key)
        const names = others.map(({ name }) => name)
        throw knownElsewhere(nameOf(account, instance), names, key)
      }
      await store(true)
      await verify(account, instance, key)
      return others
    },
    /**
     * Accepts a refused key as the instance's own, in place of a known one. Throws `host_key_not_offered` unless a key of
     * this fingerprint was offered and refused since Berth started.
     */
    async accept(account: string, instance: number, fingerprint: string): Promise<void> {
      const alias = hostKeyAlias(account, instance)
      const key = refused.get(alias)?.find(offered => fingerprintOf(offered) === fingerprint)
      if (key === undefined) throw new BerthError(notOffered)
      await stored.change(hosts => ({ ...hosts, [alias]: { key: key.toString('base64') } }))
      refused.delete(alias)
    },
    async forget(account: string, instance: number): Promise<void> {
      const alias = hostKeyAlias(account, instance)
      refused.delete(alias)
      await stored.change(hosts => {
        const { [alias]: _gone, ...rest } = hosts
        return rest
      })
    },
    /** Forgets the host keys of all the account's instances. */
    async forgetAccount(account: string): Promise<void> {
      const isTheirs = (alias: string) => alias.startsWith(aliasPrefix(account))
      for (const alias of refused.keys()) if (isTheirs(alias)) refused.delete(alias)
      if (!Object.keys(await stored.read()).some(isTheirs)) return
      await stored.change(hosts =>
        Object.fromEntries(Object.entries(hosts).filter(([alias]) => !isTheirs(alias))),
      )
    },
  }
}

/** An instance with a host key; without its number if the name in the file isn't Berth's. */
export interface HostKeyHolder {
  name: string
  account?: string
  instance?: number
}

/** The other aliases that have this key. */
function holdersIn(hosts: HostKeys, alias: string, key: Buffer): string[] {
  const keyText = key.toString('base64')
  return Object.entries(hosts)
    .filter(([name, other]) => name !== alias && other.key === keyText)
    .map(([name]) => name)
}

const changed = (knownKey: Buffer, offered: Buffer): Problem => ({
  code: 'host_key_changed',
  message:
    'The instance’s host key has changed, so Berth refused to connect. ' +
    'Either its SSH server was reinstalled, or someone is intercepting the connection.',
  advice: 'Compare the two fingerprints. Accept the new key only if you know why it changed.',
  facts: { known: fingerprintOf(knownKey), offered: fingerprintOf(offered) },
})

function knownElsewhere(name: string, others: readonly string[], offered: Buffer): BerthError {
  const [first = '', ...rest] = others
  const before = rest.length === 0 ? first : `${first} and ${rest.length} more`
  return new BerthError({
    code: 'host_key_known_elsewhere',
    message: `${name} has the same host key as ${before}, and nothing on it tells which of them answered.`,
    advice:
      'This is normal if they share an image with a built-in host key, or if it’s the same machine rented again. ' +
      `Otherwise this address may lead to ${first}: don’t accept the key.`,
    facts: { offered: fingerprintOf(offered) },
  })
}

const notOffered: Problem = {
  code: 'host_key_not_offered',
  message: 'No refused host key has this fingerprint.',
  advice: 'Connect again and compare the new fingerprint.',
}

/** Host keys by alias, on disk twice: in a file of Berth's, and in OpenSSH's own format for the system's ssh. */
interface StoredHostKeys {
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
type HostKeys = HostsFile['hosts']

const fileName = 'known-hosts.json'
const sshName = 'known_hosts'

function storedHostKeys(files: Files): StoredHostKeys {
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
  try {
    const text = await files.read(fileName)
    if (text === undefined) return {}
    return v.parse(HostsFile, JSON.parse(text)).hosts
  } catch {
    // With an empty list, any key would be taken for an instance's first one.
    throw new BerthError({
      code: 'known_hosts_damaged',
      message: `The file of known host keys, ${files.path(fileName)}, can’t be read, so Berth can’t check any host.`,
      advice: 'Restore the file, or delete it to accept new keys from all hosts.',
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
