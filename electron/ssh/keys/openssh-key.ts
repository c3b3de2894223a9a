import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto'

/** A key pair in OpenSSH's text formats. */
export interface KeyTexts {
  /** The file `id_ed25519`: container openssh-key-v1, without a passphrase. */
  privateKey: string
  /** One line: type, base64, comment. */
  publicKey: string
}

const type = 'ssh-ed25519'
const magic = 'openssh-key-v1\0'

/**
 * A fresh ed25519 pair. Our own, since the generator of ssh2 1.17 drops the leading zero bytes of a public key and so
 * makes one useless pair in 256.
 *
 * The generator encodes both halves itself. In Node 20 and Electron 33 the garbage collector takes the lock of a key
 * whose generator it frees, and `export` to a JWK holds that lock while it allocates: the two can wait for each other
 * for ever.
 */
export function makeKeyPair(comment: string): KeyTexts {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519', {
    publicKeyEncoding: { type: 'spki', format: 'der' },
    privateKeyEncoding: { type: 'pkcs8', format: 'der' },
  })
  // Each half is the last 32 bytes of its encoding (RFC 8410).
  const publicHalf = publicKey.subarray(-32)
  const privateHalf = privateKey.subarray(-32)

  const blob = Buffer.concat([string(type), string(publicHalf)])
  const check = randomBytes(4)
  const secret = Buffer.concat([
    check,
    check,
    blob,
    string(Buffer.concat([privateHalf, publicHalf])),
    string(comment),
  ])
  const padding = Buffer.from(Array.from({ length: (8 - (secret.length % 8)) % 8 }, (_, index) => index + 1))
  const container = Buffer.concat([
    Buffer.from(magic),
    string('none'), // cipher
    string('none'), // key derivation
    string(''), // and its options
    uint32(1), // number of keys
    string(blob),
    string(Buffer.concat([secret, padding])),
  ])
  const lines = container.toString('base64').match(/.{1,70}/g) ?? []
  return {
    privateKey: `-----BEGIN OPENSSH PRIVATE KEY-----\n${lines.join('\n')}\n-----END OPENSSH PRIVATE KEY-----\n`,
    publicKey: `${type} ${blob.toString('base64')} ${comment}`,
  }
}

/** `SHA256:` and 43 characters of base64, as ssh-keygen -l shows it, for a public key's bytes. */
export function fingerprintOf(blob: Buffer): string {
  return `SHA256:${createHash('sha256').update(blob).digest('base64').replaceAll('=', '')}`
}

/** The type that a public key's bytes begin with, such as `ssh-ed25519`; empty when they are no key. */
export function typeOf(blob: Buffer): string {
  if (blob.length < 4) return ''
  const name = blob.subarray(4, 4 + blob.readUInt32BE(0)).toString('latin1')
  return /^[a-z0-9@.-]{1,64}$/.test(name) ? name : ''
}

/** The public key in a private key of OpenSSH's own format, which no passphrase hides; undefined for other formats. */
export function publicBlobOf(privateKey: string): Buffer | undefined {
  const [, base64] = privateKey.split('-----BEGIN OPENSSH PRIVATE KEY-----')
  const container = Buffer.from(base64?.split('-----END')[0] ?? '', 'base64')
  if (!container.toString('latin1').startsWith(magic)) return undefined
  let at = magic.length
  // Cipher, key derivation and its options, each with its length; then the number of keys.
  for (let skipped = 0; skipped < 3; skipped++) {
    if (at + 4 > container.length) return undefined
    at += 4 + container.readUInt32BE(at)
  }
  at += 4
  if (at + 4 > container.length) return undefined
  const blob = container.subarray(at + 4, at + 4 + container.readUInt32BE(at))
  return typeOf(blob) === '' ? undefined : blob
}

function string(value: string | Buffer): Buffer {
  const bytes = Buffer.from(value)
  return Buffer.concat([uint32(bytes.length), bytes])
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}
