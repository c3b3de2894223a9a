import * as v from 'valibot'
import { BerthError } from '../../contract/problem.ts'
import type { Files } from '../../ports/files.ts'
import { oneAtATime } from '../../ports/one-at-a-time.ts'
import { fingerprintOf, typeOf } from '../keys/openssh-key.ts'

/**
 * The host key of each instance, by account and instance rather than by host and port, since proxies give the same
 * port to one machine after another.
 */
export interface KnownHosts {
  /** The file in OpenSSH's own format, for the system's ssh. */
  readonly path: string
  /** The bytes of the key that is known, if one is. */
  known(account: string, instance: number): Promise<Buffer | undefined>
  /**
   * Whether the key that a host offers is the one that is known; `new` where none is.
   * Throws `host_key_changed` with the facts `known` and `offered`, both SHA256 fingerprints, and
   * `host_key_known_elsewhere` with `offered` where none is known and another instance showed this one before.
   */
  verify(account: string, instance: number, offered: Buffer): Promise<'known' | 'new'>
  /** Remembers the first key seen. Throws as `verify` does. */
  remember(account: string, instance: number, key: Buffer): Promise<void>
  /**
   * Takes the key that was offered and refused for the instance's own, in the place of a known one. Throws `host_key_not_offered` unless the
   * fingerprint is that of one that was refused in this run.
   */
  accept(account: string, instance: number, fingerprint: string): Promise<void>
  forget(account: string, instance: number): Promise<void>
  /** Forgets the keys of all its instances. */
  forgetAccount(account: string): Promise<void>
}

const HostsFile = v.object({
  version: v.literal(1),
  hosts: v.record(v.string(), v.object({ key: v.string() })),
})
type HostsFile = v.InferOutput<typeof HostsFile>

const fileName = 'known-hosts.json'
const sshName = 'known_hosts'
const mostRefused = 8

/** The name under which an instance's host key stands in the OpenSSH file, whatever its address. */
export function hostKeyAlias(account: string, instance: number): string {
  return `${aliasPrefix(account)}${instance}`
}

function aliasPrefix(account: string): string {
  return `berth-${account}-`
}

/** `nameOf` gives how the user knows an instance. */
export function openKnownHosts(
  files: Files,
  nameOf: (account: string, instance: number) => string = hostKeyAlias,
): KnownHosts {
  /** The last few keys that were offered and refused in this run: one instance can be tried at several addresses. */
  const refused = new Map<string, Buffer[]>()
  let stored: Promise<HostsFile> | undefined
  const inTurn = oneAtATime()

  function read(): Promise<HostsFile> {
    stored ??= readFile(files).catch(error => {
      stored = undefined
      throw error
    })
    return stored
  }

  async function find(alias: string): Promise<Buffer | undefined> {
    const { hosts } = await read()
    const entry = hosts[alias]
    return entry === undefined ? undefined : Buffer.from(entry.key, 'base64')
  }

  /**
   * One change at a time, on disk when it resolves. What the system's ssh saw first and the user accepted there, in
   * the OpenSSH file, is taken over with it.
   */
  function change(edit: (hosts: HostsFile['hosts']) => HostsFile['hosts']): Promise<void> {
    return inTurn(async () => {
      const { hosts } = await read()
      const seenElsewhere = hostsIn((await files.read(sshName)) ?? '')
      const after: HostsFile = { version: 1, hosts: edit({ ...seenElsewhere, ...hosts }) }
      await files.write(fileName, `${JSON.stringify(after, null, 2)}\n`)
      stored = Promise.resolve(after)
      await files.write(sshName, opensshText(after))
    })
  }

  async function known(account: string, instance: number): Promise<Buffer | undefined> {
    const alias = hostKeyAlias(account, instance)
    const key = await find(alias)
    if (key !== undefined || hostsIn((await files.read(sshName)) ?? '')[alias] === undefined) return key
    await change(hosts => hosts)
    return find(alias)
  }

  async function verify(account: string, instance: number, offered: Buffer): Promise<'known' | 'new'> {
    const key = await known(account, instance)
    if (key?.equals(offered)) return 'known'
    const alias = hostKeyAlias(account, instance)
    const holders = key === undefined ? await holdersOf(alias, offered) : []
    if (key === undefined && holders.length === 0) return 'new'
    const others = (refused.get(alias) ?? []).filter(other => !other.equals(offered))
    refused.set(alias, [...others, offered].slice(-mostRefused))
    if (key !== undefined) throw changed(key, offered)
    // That of another account is named first: it matters most.
    const isOurs = (holder: string) => Number(holder.startsWith(aliasPrefix(account)))
    holders.sort((one, other) => isOurs(one) - isOurs(other))
    throw knownElsewhere(nameOf(account, instance), holders.map(nameOfAlias), offered)
  }

  /** The names of other instances that showed this key, to Berth or to the system's ssh. */
  async function holdersOf(alias: string, key: Buffer): Promise<string[]> {
    const { hosts } = await read()
    return holdersIn({ ...hostsIn((await files.read(sshName)) ?? ''), ...hosts }, alias, key)
  }

  function nameOfAlias(alias: string): string {
    const [, account, instance] = /^berth-(.+)-(\d+)$/.exec(alias) ?? []
    return account === undefined ? alias : nameOf(account, Number(instance))
  }

  return {
    path: files.path(sshName),
    known,
    verify,
    async remember(account, instance, key) {
      if ((await verify(account, instance, key)) === 'known') return
      const alias = hostKeyAlias(account, instance)
      await change(hosts =>
        hosts[alias] || holdersIn(hosts, alias, key).length > 0
          ? hosts
          : { ...hosts, [alias]: { key: key.toString('base64') } },
      )
      await verify(account, instance, key)
    },
    async accept(account, instance, fingerprint) {
      const alias = hostKeyAlias(account, instance)
      const key = refused.get(alias)?.find(offered => fingerprintOf(offered) === fingerprint)
      if (key === undefined) throw notOffered()
      await change(hosts => ({ ...hosts, [alias]: { key: key.toString('base64') } }))
      refused.delete(alias)
    },
    async forget(account, instance) {
      const alias = hostKeyAlias(account, instance)
      refused.delete(alias)
      await change(hosts => {
        const { [alias]: _gone, ...rest } = hosts
        return rest
      })
    },
    async forgetAccount(account) {
      const isTheirs = (alias: string) => alias.startsWith(aliasPrefix(account))
      for (const alias of refused.keys()) if (isTheirs(alias)) refused.delete(alias)
      if (!Object.keys((await read()).hosts).some(isTheirs)) return
      await change(hosts => Object.fromEntries(Object.entries(hosts).filter(([alias]) => !isTheirs(alias))))
    },
  }
}

/** The other names under which that key stands. */
function holdersIn(hosts: HostsFile['hosts'], alias: string, key: Buffer): string[] {
  const wanted = key.toString('base64')
  return Object.entries(hosts)
    .filter(([name, other]) => name !== alias && other.key === wanted)
    .map(([name]) => name)
}

async function readFile(files: Files): Promise<HostsFile> {
  const text = await files.read(fileName)
  if (text === undefined) return { version: 1, hosts: {} }
  try {
    return v.parse(HostsFile, JSON.parse(text))
  } catch {
    // Going on with an empty one would take any key for a first one.
    throw new BerthError({
      code: 'known_hosts_damaged',
      message: `The file of known host keys, ${files.path(fileName)}, cannot be read, so no host can be checked.`,
      advice: 'Restore the file, or delete it to have every host’s key remembered afresh.',
    })
  }
}

function opensshText(stored: HostsFile): string {
  const lines = Object.entries(stored.hosts).map(
    ([alias, { key }]) => `${alias} ${typeOf(Buffer.from(key, 'base64'))} ${key}\n`,
  )
  return `# Written by Berth: the host keys of instances, by account and instance.\n${lines.join('')}`
}

/** The keys in OpenSSH's format that stand under names of Berth's. */
function hostsIn(text: string): HostsFile['hosts'] {
  const entries = text
    .split('\n')
    .map(line => line.trim().split(/\s+/))
    .filter(
      ([alias = '', , key = '']) => alias.startsWith('berth-') && typeOf(Buffer.from(key, 'base64')) !== '',
    )
  // Of several lines for one name ssh trusts any; the first is the one that was seen first.
  return Object.fromEntries(entries.reverse().map(([alias = '', , key = '']) => [alias, { key }]))
}

function changed(known: Buffer, offered: Buffer): BerthError {
  return new BerthError({
    code: 'host_key_changed',
    message:
      'The instance shows another host key than the one Berth knows for it, so the connection was refused. ' +
      'Either its SSH server was set up anew, or somebody is in between.',
    advice: 'Compare the two fingerprints; accept the new key only if you know why it changed.',
    facts: { known: fingerprintOf(known), offered: fingerprintOf(offered) },
  })
}

function knownElsewhere(name: string, others: readonly string[], offered: Buffer): BerthError {
  const [first = '', ...rest] = others
  const before = rest.length === 0 ? first : `${first} and ${rest.length} more`
  return new BerthError({
    code: 'host_key_known_elsewhere',
    message: `${name} shows a host key that Berth knows from ${before}, so Berth did not log in.`,
    advice:
      'This is normal when they share an image with a built-in host key, or when it is the same machine rented again. ' +
      `If neither fits, this address may lead to ${first}: do not accept the key.`,
    facts: { offered: fingerprintOf(offered) },
  })
}

function notOffered(): BerthError {
  return new BerthError({
    code: 'host_key_not_offered',
    message: 'No host key with this fingerprint was offered and refused.',
    advice: 'Connect again and compare the fingerprint that is shown then.',
  })
}
