import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { ParsedKey } from 'ssh2'
import { readOwnFile } from '#platform/own-file.ts'
import type { Files } from '#platform/platform.ts'
import { keyLocked, unusable } from './key-problems.ts'
import { fingerprintOf, makeKeyPair, publicBlobOf, typeOf } from './openssh-key.ts'
import { readPrivateKey } from './private-key.ts'

/** The public half of a key pair, and the path of its private half. */
export interface KeyFile {
  type: string
  fingerprint: string
  publicKey: string
  path: string
}

/** Bytes of a file that may be a private key. */
const largest = 65_536

/** The names of the files in a folder that may be private keys. */
export async function namesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder).catch(() => [])
  return entries.filter(entry => !entry.endsWith('.pub')).sort()
}

/**
 * A key by its file's name. Its public half is that beside it, or else is read from the private one, as far as no
 * passphrase is needed for that. Undefined unless the folder lists this name, so that no name leads out of the folder.
 */
export async function findKeyFile(folder: string, name: string): Promise<KeyFile | undefined> {
  if (!(await namesIn(folder)).includes(name)) return undefined
  const path = join(folder, name)
  const beside = ((await textOf(`${path}.pub`)) ?? '').split('\n')[0]?.trim() ?? ''
  const blob = Buffer.from(beside.split(' ')[1] ?? '', 'base64')
  const type = typeOf(blob)
  if (type !== '') return { type, fingerprint: fingerprintOf(blob), publicKey: beside, path }
  const inside = await publicHalfIn((await textOf(path)) ?? '')
  if (inside === undefined) return undefined
  const publicKey = `${typeOf(inside)} ${inside.toString('base64')} ${name}`
  return { type: typeOf(inside), fingerprint: fingerprintOf(inside), publicKey, path }
}

/** The usable keys in a folder, by name; `locked` if the key has a passphrase. */
export async function keyFilesIn(folder: string): Promise<(KeyFile & { name: string; locked: boolean })[]> {
  const found: (KeyFile & { name: string; locked: boolean })[] = []
  // One after another: a folder on a disk that hangs takes one of the few threads that all file work shares.
  for (const name of await namesIn(folder)) {
    const text = await textOf(join(folder, name))
    if (!text?.includes('PRIVATE KEY-----')) continue
    const file = await findKeyFile(folder, name)
    const { state } = await readPrivateKey(text)
    if (file && state !== 'unusable') found.push({ ...file, name, locked: state === 'locked' })
  }
  return found
}

/** The text of an ordinary file; undefined for anything else, such as an agent's socket or a pipe. */
export async function textOf(path: string): Promise<string | undefined> {
  return readOwnFile(path, largest).catch(() => undefined)
}

async function publicHalfIn(text: string): Promise<Buffer | undefined> {
  const read = await readPrivateKey(text)
  if (read.state === 'open') return read.key.getPublicSSH()
  return read.state === 'locked' ? publicBlobOf(text) : undefined
}

/** The key that Berth makes for an account: both halves, and the path of the private one. */
export interface OwnKey {
  publicKey: string
  fingerprint: string
  path: string
  key: ParsedKey
}

/**
 * Reads the account's key, or makes it on first use. Each account has its own, so that the service of one cannot lead
 * Berth into an instance of another. Throws `key_unusable`.
 */
export async function loadOrMakeOwn(files: Files, account: string): Promise<OwnKey> {
  const privateName = nameOf(account)
  let text = await files.read(privateName)
  if (text === undefined) {
    text = makeKeyPair('berth').privateKey
    await files.write(privateName, text)
  }
  const read = await readPrivateKey(text)
  if (read.state === 'unusable') throw unusable(files.path(privateName), read.fault)
  if (read.state !== 'open') throw keyLocked(files.path(privateName))
  const blob = read.key.getPublicSSH()
  const publicKey = `${typeOf(blob)} ${blob.toString('base64')} berth`
  // Derived from the private half alone, so that a kill between the two writes leaves no mismatch.
  const publicName = `${privateName}.pub`
  if ((await files.read(publicName)) !== `${publicKey}\n`) await files.write(publicName, `${publicKey}\n`)
  return { publicKey, fingerprint: fingerprintOf(blob), path: files.path(privateName), key: read.key }
}

/** Deletes both halves. */
export async function deleteOwn(files: Files, account: string): Promise<void> {
  await files.delete(nameOf(account))
  await files.delete(`${nameOf(account)}.pub`)
}

function nameOf(account: string): string {
  return `accounts/${account}/id_ed25519`
}
