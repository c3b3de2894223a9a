import { createPrivateKey, type KeyObject } from 'node:crypto'
import type { ParsedKey } from 'ssh2'
import { publicBlobOf, typeOf } from './openssh-key.ts'

/** Why a text is no key that Berth uses: a sentence, and what to try. */
export interface KeyFault {
  message: string
  advice: string
}

/** The result of reading a private key's text, with a passphrase if one is given. */
export type ReadKey =
  /** `text`: the key's own lines, without what may stand around them. */
  | { state: 'open'; key: ParsedKey; text: string }
  /** The key has a passphrase, and none was given. */
  | { state: 'locked' }
  | { state: 'wrong_passphrase' }
  | { state: 'unusable'; fault: KeyFault }

/**
 * Reads a private key in any form that OpenSSH reads: its own, PEM, and PKCS#8, which ssh2 doesn't know and Node does.
 */
export async function readPrivateKey(text: string, passphrase?: string): Promise<ReadKey> {
  const block = privateBlock(text)
  if (block === undefined) return unusable(otherThanPrivate(text))
  const parsed = await parse(block, passphrase)
  if (!(parsed instanceof Error)) {
    // A container of several keys is read as a list; its first key is used.
    const key = Array.isArray(parsed) ? parsed[0] : parsed
    if (!key?.isPrivateKey()) return unusable(damaged)
    return key.type === 'ssh-dss' ? unusable(dsa) : { state: 'open', key, text: block }
  }
  if (/^-----BEGIN (ENCRYPTED )?PRIVATE KEY-----/.test(block)) return readPkcs8(block, passphrase)
  if (passphrase === undefined)
    return /encrypted/i.test(parsed.message) ? { state: 'locked' } : unusable(faultOf(block))
  const { state } = await readPrivateKey(text)
  return state === 'locked' ? { state: 'wrong_passphrase' } : unusable(faultOf(block))
}

async function readPkcs8(block: string, passphrase: string | undefined): Promise<ReadKey> {
  const encrypted = block.startsWith('-----BEGIN ENCRYPTED')
  if (encrypted && passphrase === undefined) return { state: 'locked' }
  let key: KeyObject
  try {
    key = createPrivateKey({ key: block, format: 'pem', passphrase })
  } catch {
    return encrypted ? { state: 'wrong_passphrase' } : unusable(damaged)
  }
  const pem = traditionalPem(key)
  if (typeof pem !== 'string') return unusable(pem)
  const parsed = await parse(pem, undefined)
  return parsed instanceof Error || Array.isArray(parsed)
    ? unusable(damaged)
    : { state: 'open', key: parsed, text: block }
}

/** The key as ssh2 reads it. */
function traditionalPem(key: KeyObject): string | KeyFault {
  const type = key.asymmetricKeyType
  if (type === 'rsa') return key.export({ format: 'pem', type: 'pkcs1' }).toString()
  if (type === 'dsa') return dsa
  if (type === 'ed25519')
    return {
      message: 'This is an Ed25519 key in PKCS#8 format, which OpenSSH before 9.6 doesn’t read.',
      advice: 'Convert it with OpenSSH 9.6 or newer: ssh-keygen -p -f FILE. Or make a new key here.',
    }
  const curve = key.asymmetricKeyDetails?.namedCurve
  if (type === 'ec' && curve !== undefined && sshCurves.has(curve))
    return key.export({ format: 'pem', type: 'sec1' }).toString()
  const kind = curve ? `an EC key on the curve ${curve}` : `a key of the type ${type}`
  return { message: `This is ${kind}, which SSH doesn’t use.`, advice: 'Use an RSA, Ed25519 or NIST EC key.' }
}

const sshCurves: ReadonlySet<string> = new Set(['prime256v1', 'secp384r1', 'secp521r1'])

async function parse(text: string, passphrase: string | undefined): Promise<ParsedKey | ParsedKey[] | Error> {
  // Loaded only when a key is first read: no connection needs it before.
  const { default: ssh2 } = await import('ssh2')
  try {
    return ssh2.utils.parseKey(text, passphrase)
  } catch (error) {
    return error instanceof Error ? error : new Error('not a key')
  }
}

/** The first private key's lines in a text; text before it, such as curve parameters, is skipped as OpenSSH does. */
function privateBlock(text: string): string | undefined {
  const lines = text.replaceAll('\r\n', '\n').split('\n')
  const from = lines.findIndex(line =>
    /^-----BEGIN [A-Z0-9 ]{0,20}PRIVATE KEY-----\s*$/.test(line.trimStart()),
  )
  if (from < 0) return undefined
  const length = lines.slice(from).findIndex(line => line.trimStart().startsWith('-----END '))
  if (length < 0) return undefined
  return `${lines
    .slice(from, from + length + 1)
    .map(line => line.trim())
    .join('\n')}\n`
}

function unusable(fault: KeyFault): ReadKey {
  return { state: 'unusable', fault }
}

const damaged: KeyFault = {
  message: 'This private key is damaged.',
  advice: 'Copy the whole file again, from “-----BEGIN” to “-----END”.',
}

const dsa: KeyFault = {
  message: 'This is a DSA key, which OpenSSH no longer supports.',
  advice: 'Use an RSA, Ed25519 or NIST EC key.',
}

/** Why a key that is neither PKCS#8 nor readable by ssh2 isn't read. */
function faultOf(block: string): KeyFault {
  const type = typeOf(publicBlobOf(block) ?? Buffer.alloc(0))
  if (type.startsWith('sk-'))
    return {
      message: 'This key needs a hardware security key, which Berth can’t use.',
      advice: 'Choose another key, or connect with “ssh” in a terminal.',
    }
  if (type === 'ssh-dss') return dsa
  if (type === '') return damaged
  return {
    message: 'This OpenSSH key is damaged, or encrypted by a cipher that Berth doesn’t know.',
    advice: 'Encrypt it again, with the same passphrase if you like: ssh-keygen -p -Z aes256-ctr -f FILE.',
  }
}

/** The kind of a text without a private key. */
function otherThanPrivate(text: string): KeyFault {
  const start = text.trimStart().slice(0, 400)
  if (start.startsWith('PuTTY-User-Key-File'))
    return {
      message: 'This key is in PuTTY’s format, which OpenSSH doesn’t read.',
      advice: 'Convert it: puttygen FILE -O private-openssh -o NEWFILE.',
    }
  if (/^---- BEGIN SSH2 /.test(start))
    return {
      message: 'This key is in SSH.com’s format, which Berth doesn’t read.',
      advice: 'If it is a private key, convert it: ssh-keygen -i -f FILE.',
    }
  if (/^(ssh-|ecdsa-|sk-)|^-----BEGIN (RSA )?PUBLIC KEY/.test(start))
    return {
      message: 'This is a public key, and Berth needs the private one.',
      advice: 'Choose the file of the same name without .pub.',
    }
  return {
    message: 'There is no private key in this text.',
    advice: 'Choose the file without .pub; it has a line “-----BEGIN … PRIVATE KEY-----”, and one with END.',
  }
}
