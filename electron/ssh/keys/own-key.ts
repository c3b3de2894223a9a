import type { ParsedKey } from 'ssh2'
import type { Files } from '#machine/machine.ts'
import { keyLocked, unusable } from './key-problems.ts'
import { fingerprintOf, makeKeyPair, typeOf } from './openssh-key.ts'
import { readPrivateKey } from './private-key.ts'

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
