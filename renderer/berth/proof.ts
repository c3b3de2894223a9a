import { type Nonces, proofText } from '../../electron/contract/bridge/proof.ts'

/** 32 random bytes, in hex. */
export function newNonce(): string {
  return hexOf(crypto.getRandomValues(new Uint8Array(32)))
}

/** A side's proof that it knows the token, in hex. */
export async function proofOf(token: string, side: keyof Nonces, nonces: Nonces): Promise<string> {
  const utf8 = new TextEncoder()
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', utf8.encode(token), algorithm, false, ['sign'])
  const signed = await crypto.subtle.sign(algorithm, key, utf8.encode(proofText(side, nonces)))
  return hexOf(new Uint8Array(signed))
}

function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('')
}
