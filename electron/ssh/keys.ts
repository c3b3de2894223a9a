import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import ssh2 from 'ssh2'
import { BerthError } from '../contract/problem.ts'
import type { SshKey } from '../contract/ssh-key.ts'
import type { Files } from '../ports/files.ts'
import { fingerprintOf, makeKeyPair, typeOf } from './openssh-key.ts'

/** The name of Berth's own key among the others. */
export const berthKey = 'berth'

/** A key's public half, and where the private half lies, for the system's ssh. */
export interface LocatedKey {
  name: string
  publicKey: string
  fingerprint: string
  path: string
}

/** A key with which to get in: its private half is in memory and goes nowhere but into the handshake. */
export interface LoadedKey extends LocatedKey {
  privateKey: string
}

export interface Keys {
  /** Berth's own, made on first use, then those of `~/.ssh` whose private half is there, by name. */
  list(): Promise<SshKey[]>
  /** Its public half, to attach to an instance; a passphrase is no matter. Throws `key_missing`. */
  locate(name: string): Promise<LocatedKey>
  /** Throws `key_missing`, `key_locked` (it has a passphrase) or `key_unusable`. */
  load(name: string): Promise<LoadedKey>
}

const privateName = 'keys/id_ed25519'

/** The keys that can get in. `home` is the user's home folder; of `~/.ssh` nothing is written. */
export function openKeys(files: Files, home: string): Keys {
  const folder = join(home, '.ssh')
  let own: Promise<LoadedKey> | undefined

  /** One making at a time, so that two first uses end with the same key. */
  function ownKey(): Promise<LoadedKey> {
    own ??= loadOrMakeOwn(files).catch(error => {
      own = undefined
      throw error
    })
    return own
  }

  async function locate(name: string): Promise<LocatedKey> {
    if (name === berthKey) {
      const { publicKey, fingerprint, path } = await ownKey()
      return { name, publicKey, fingerprint, path }
    }
    // A name of the folder's own, and so none that leads out of it.
    if (!(await namesIn(folder)).includes(name)) throw missing(name)
    const path = join(folder, name)
    const publicKey = firstLine(await readFile(`${path}.pub`, 'utf8'))
    return { name, publicKey, fingerprint: fingerprintOf(blobOf(publicKey)), path }
  }

  async function load(name: string): Promise<LoadedKey> {
    if (name === berthKey) return ownKey()
    const located = await locate(name)
    const privateKey = await readFile(located.path, 'utf8').catch(() => '')
    const fault = faultOf(privateKey)
    if (fault === 'locked') throw locked(name)
    if (fault === 'unusable') throw unusable(name)
    return { ...located, privateKey }
  }

  return {
    locate,
    load,
    async list() {
      const { publicKey, fingerprint } = await ownKey()
      const mine = { name: berthKey, type: 'ssh-ed25519', fingerprint, publicKey, needsPassphrase: false }
      const names = (await namesIn(folder)).filter(name => name !== berthKey)
      const users = await Promise.all(names.map(name => describe(folder, name)))
      return [mine, ...users.filter(key => key !== undefined)]
    },
  }
}

async function loadOrMakeOwn(files: Files): Promise<LoadedKey> {
  let privateKey = await files.read(privateName)
  if (privateKey === undefined) {
    privateKey = makeKeyPair('berth').privateKey
    await files.write(privateName, privateKey)
  }
  const parsed = ssh2.utils.parseKey(privateKey)
  if (parsed instanceof Error || !parsed.isPrivateKey()) throw unusable(files.path(privateName))
  const blob = parsed.getPublicSSH()
  const publicKey = `${typeOf(blob)} ${blob.toString('base64')} berth`
  // Told by the private half alone, so that a kill between the two files leaves nothing that disagrees.
  const publicName = `${privateName}.pub`
  if ((await files.read(publicName)) !== `${publicKey}\n`) await files.write(publicName, `${publicKey}\n`)
  return {
    name: berthKey,
    publicKey,
    fingerprint: fingerprintOf(blob),
    privateKey,
    path: files.path(privateName),
  }
}

async function namesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder).catch(() => [])
  const present = new Set(entries)
  return entries
    .filter(entry => entry.endsWith('.pub'))
    .map(entry => entry.slice(0, -'.pub'.length))
    .filter(name => present.has(name))
    .sort()
}

/** What the list says about a key of the user's; undefined for one that Berth cannot use. */
async function describe(folder: string, name: string): Promise<SshKey | undefined> {
  try {
    const publicKey = firstLine(await readFile(join(folder, `${name}.pub`), 'utf8'))
    const blob = blobOf(publicKey)
    const fault = faultOf(await readFile(join(folder, name), 'utf8'))
    if (fault === 'unusable' || typeOf(blob) === '') return undefined
    const fingerprint = fingerprintOf(blob)
    return { name, type: typeOf(blob), fingerprint, publicKey, needsPassphrase: fault === 'locked' }
  } catch {
    return undefined
  }
}

function faultOf(privateKey: string): 'locked' | 'unusable' | undefined {
  const parsed = ssh2.utils.parseKey(privateKey)
  if (!(parsed instanceof Error)) return parsed.isPrivateKey() ? undefined : 'unusable'
  return /encrypted/i.test(parsed.message) ? 'locked' : 'unusable'
}

function firstLine(text: string): string {
  return text.split('\n')[0]?.trim() ?? ''
}

function blobOf(publicKey: string): Buffer {
  return Buffer.from(publicKey.split(' ')[1] ?? '', 'base64')
}

function missing(name: string): BerthError {
  return new BerthError({
    code: 'key_missing',
    message: `There is no SSH key “${name}” in ~/.ssh any more.`,
    advice: 'Choose another key in Settings.',
  })
}

function locked(name: string): BerthError {
  return new BerthError({
    code: 'key_locked',
    message: `The SSH key “${name}” is protected by a passphrase, which Berth does not have.`,
    advice: 'Choose Berth’s own key or one without a passphrase in Settings.',
  })
}

function unusable(name: string): BerthError {
  return new BerthError({
    code: 'key_unusable',
    message: `The SSH key “${name}” is damaged or of a kind that Berth cannot use.`,
    advice: 'Choose another key in Settings.',
  })
}
