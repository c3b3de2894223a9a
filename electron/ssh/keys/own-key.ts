import type { ParsedKey } from 'ssh2'
import type { Files } from '../../ports/files.ts'
import { unusable } from './key-problems.ts'
import { fingerprintOf, makeKeyPair, typeOf } from './openssh-key.ts'
import { readPrivateKey } from './private-key.ts'

/** Berth's own key: both halves, and where the private one lies. */
export interface OwnKey {
  publicKey: string
  fingerprint: string
  path: string
  key: ParsedKey
}

/** The file's name in Berth's folder of keys. */
export const ownKeyName = 'id_ed25519'

const privateName = `keys/${ownKeyName}`

/** Reads it, or makes it on first use. Throws `key_unusable`. */
export async function loadOrMakeOwn(files: Files): Promise<OwnKey> {
  let text = await files.read(privateName)
  if (text === undefined) {
    text = makeKeyPair('berth').privateKey
    await files.write(privateName, text)
  }
  const read = readPrivateKey(text)
  if (read.state !== 'open') throw unusable(files.path(privateName))
  const blob = read.key.getPublicSSH()
  const publicKey = `${typeOf(blob)} ${blob.toString('base64')} berth`
  // Told by the private half alone, so that a kill between the two files leaves nothing that disagrees.
  const publicName = `${privateName}.pub`
  if ((await files.read(publicName)) !== `${publicKey}\n`) await files.write(publicName, `${publicKey}\n`)
  return { publicKey, fingerprint: fingerprintOf(blob), path: files.path(privateName), key: read.key }
}
