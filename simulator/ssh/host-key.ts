import { createHash, createPrivateKey, createPublicKey } from 'node:crypto'

export interface HostKey {
  /** The private key as OpenSSH writes it (`BEGIN OPENSSH PRIVATE KEY`), unencrypted. */
  privateKey: string
  /** As OpenSSH prints it: `SHA256:` and unpadded base64. */
  fingerprint: string
}

/** The beginning of an Ed25519 key in PKCS#8, which its 32 secret bytes follow (RFC 8410). */
const pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex')

/** The Ed25519 host key of an instance: the same world and instance always show the same key. */
export function hostKey(seed: number, instanceId: number): HostKey {
  const secret = createHash('sha256').update(`berth simulator host key ${seed} ${instanceId}`).digest()
  const publicKey = publicBytes(secret)
  const publicBlob = Buffer.concat([field('ssh-ed25519'), field(publicKey)])
  const check = createHash('sha256').update(secret).digest().subarray(0, 4)
  const secretPart = pad(
    Buffer.concat([
      check,
      check,
      field('ssh-ed25519'),
      field(publicKey),
      field(Buffer.concat([secret, publicKey])),
      field(`instance-${instanceId}`),
    ]),
  )
  const file = Buffer.concat([
    Buffer.from('openssh-key-v1\0'),
    field('none'), // cipher
    field('none'), // key derivation
    field(''), // its options
    uint32(1), // keys in this file
    field(publicBlob),
    field(secretPart),
  ])
  const lines = file.toString('base64').match(/.{1,70}/g) ?? []
  return {
    privateKey: `-----BEGIN OPENSSH PRIVATE KEY-----\n${lines.join('\n')}\n-----END OPENSSH PRIVATE KEY-----\n`,
    fingerprint: `SHA256:${createHash('sha256').update(publicBlob).digest('base64').replaceAll('=', '')}`,
  }
}

function publicBytes(secret: Buffer): Buffer {
  const key = createPrivateKey({ key: Buffer.concat([pkcs8Prefix, secret]), format: 'der', type: 'pkcs8' })
  return createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-32)
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

/** A string of the SSH wire format: its length, then its bytes. */
function field(value: string | Buffer): Buffer {
  const bytes = Buffer.from(value)
  return Buffer.concat([uint32(bytes.length), bytes])
}

/** The secret part fills whole blocks of 8 bytes with 1, 2, 3, … */
function pad(bytes: Buffer): Buffer {
  const missing = (8 - (bytes.length % 8)) % 8
  return Buffer.concat([bytes, Buffer.from(Array.from({ length: missing }, (_, index) => index + 1))])
}
