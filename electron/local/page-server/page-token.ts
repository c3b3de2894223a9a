import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** 256 random bits in characters that addresses and subprotocols allow. */
export function newPageToken(): string {
  return randomBytes(32).toString('base64url')
}

/** Compares tokens in a time that does not depend on where they differ. */
export function sameToken(given: string, token: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(token))
}
