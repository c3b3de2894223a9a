import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fingerprintOf, typeOf } from './openssh-key.ts'
import { readPrivateKey } from './private-key.ts'

/** The public half of a key pair, and the path of its private half. */
export interface KeyFile {
  type: string
  fingerprint: string
  publicKey: string
  path: string
}

/** The names of the key pairs in a folder, of which both halves exist. */
export async function keyNamesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder).catch(() => [])
  const present = new Set(entries)
  return entries
    .filter(entry => entry.endsWith('.pub'))
    .map(entry => entry.slice(0, -'.pub'.length))
    .filter(name => present.has(name))
    .sort()
}

/** Undefined unless the folder lists this name, so that no name leads out of the folder. */
export async function findKeyFile(folder: string, name: string): Promise<KeyFile | undefined> {
  if (!(await keyNamesIn(folder)).includes(name)) return undefined
  const path = join(folder, name)
  const publicKey = (await readFile(`${path}.pub`, 'utf8')).split('\n')[0]?.trim() ?? ''
  const blob = Buffer.from(publicKey.split(' ')[1] ?? '', 'base64')
  return { type: typeOf(blob), fingerprint: fingerprintOf(blob), publicKey, path }
}

/** The usable key pairs in a folder, by name; `locked` if the key has a passphrase. */
export async function keyFilesIn(folder: string): Promise<(KeyFile & { name: string; locked: boolean })[]> {
  const names = await keyNamesIn(folder)
  const found = await Promise.all(
    names.map(async name => {
      try {
        const file = await findKeyFile(folder, name)
        if (file === undefined || file.type === '') return undefined
        const { state } = await readPrivateKey(await readFile(file.path, 'utf8'))
        return state === 'unusable' ? undefined : { ...file, name, locked: state === 'locked' }
      } catch {
        return undefined
      }
    }),
  )
  return found.filter(file => file !== undefined)
}
