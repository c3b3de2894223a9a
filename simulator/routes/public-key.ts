import type { Fields } from '../fields.ts'

const keyTypes = new Set([
  'ssh-ed25519',
  'ssh-rsa',
  'ecdsa-sha2-nistp256',
  'ecdsa-sha2-nistp384',
  'ecdsa-sha2-nistp521',
  'sk-ssh-ed25519@openssh.com',
  'sk-ecdsa-sha2-nistp256@openssh.com',
])

/** Reads `ssh_key`, one line of public key text. Throws 400 when it is not a public key. */
export function readPublicKey(body: Fields): string {
  const text = body.string('ssh_key').trim()
  const [type = '', data = ''] = text.split(/\s+/)
  if (/[\r\n]/.test(text) || !keyTypes.has(type) || innerType(data) !== type) {
    throw body.refuse('ssh_key must be a public key, such as ssh-ed25519 AAAA… comment.')
  }
  return text
}

/** The type in the key's bytes: a length of four bytes, then the text. */
function innerType(base64: string): string {
  const bytes = Buffer.from(base64, 'base64')
  if (bytes.length < 4) return ''
  return bytes.subarray(4, 4 + bytes.readUInt32BE(0)).toString('latin1')
}
