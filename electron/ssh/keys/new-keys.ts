import type { Files } from '#machine/machine.ts'
import { namesIn } from './key-folder.ts'
import { keyLocked, nameTaken, notAKey, wrongPassphrase } from './key-problems.ts'
import { fingerprintOf, makeKeyPair, typeOf } from './openssh-key.ts'
import type { Passphrases } from './passphrases.ts'
import { readPrivateKey } from './private-key.ts'

/** Adds a private key's text to Berth's keys, see `Keys.import`. */
export async function importKey(
  { files, passphrases }: { files: Files; passphrases: Passphrases },
  name: string,
  text: string,
  passphrase: string | undefined,
): Promise<string> {
  await checkFree(files, name)
  const read = await readPrivateKey(text, passphrase)
  if (read.state === 'locked') throw keyLocked(name)
  if (read.state === 'wrong_passphrase') throw wrongPassphrase(name)
  if (read.state !== 'open') throw notAKey(read.fault)
  const blob = read.key.getPublicSSH()
  const kept = await keepKey(files, name, read.text, `${typeOf(blob)} ${blob.toString('base64')} ${name}`)
  if (passphrase !== undefined) await passphrases.remember(fingerprintOf(blob), passphrase, false)
  return kept
}

/** Makes another key of Berth's, see `Keys.generate`. */
export async function generateKey(files: Files, name: string): Promise<string> {
  await checkFree(files, name)
  const { privateKey, publicKey } = makeKeyPair(`berth-${name}`)
  return keepKey(files, name, privateKey, publicKey)
}

async function checkFree(files: Files, name: string): Promise<void> {
  if ((await namesIn(files.path('keys'))).includes(name)) throw nameTaken(name)
}

/** Writes both halves to Berth's folder, the private one first. */
async function keepKey(files: Files, name: string, privateKey: string, publicKey: string): Promise<string> {
  await files.write(`keys/${name}`, privateKey)
  await files.write(`keys/${name}.pub`, `${publicKey}\n`)
  return `berth/${name}`
}
