import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fingerprintOf, publicBlobOf, typeOf } from './openssh-key.ts'
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
  const found = await Promise.all(
    (await namesIn(folder)).map(async name => {
      const text = await textOf(join(folder, name))
      if (!text?.includes('PRIVATE KEY-----')) return undefined
      const file = await findKeyFile(folder, name)
      const { state } = await readPrivateKey(text)
      return file && state !== 'unusable' ? { ...file, name, locked: state === 'locked' } : undefined
    }),
  )
  return found.filter(file => file !== undefined)
}

/** The text of an ordinary file; undefined for anything else, such as an agent's socket. */
async function textOf(path: string): Promise<string | undefined> {
  try {
    const file = await stat(path)
    return file.isFile() && file.size <= largest ? await readFile(path, 'utf8') : undefined
  } catch {
    return undefined
  }
}

async function publicHalfIn(text: string): Promise<Buffer | undefined> {
  const read = await readPrivateKey(text)
  if (read.state === 'open') return read.key.getPublicSSH()
  return read.state === 'locked' ? publicBlobOf(text) : undefined
}
