import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** 256 random bits, in letters that an address and a subprotocol may hold. */
export function newPageToken(): string {
  return randomBytes(32).toString('base64url')
}

/** Whether they are the same, in a time that tells nothing about where they differ. */
export function sameToken(given: string, token: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(token))
}
