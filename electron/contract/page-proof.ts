/**
 * How browser mode's page and server show each other that they know the token, without sending it: an HMAC-SHA-256 of
 * both sides' nonces, with the token as its key. The page's nonce comes with the handshake, and the server proves
 * itself first. Nonces and proofs are 32 bytes in hex.
 */
export interface Nonces {
  page: string
  berth: string
}

/** The text that a side signs. It names the side, so that no proof can be sent back as the other's. */
export function proofText(side: keyof Nonces, { page, berth }: Nonces): string {
  return `berth-socket-1 ${side} ${page} ${berth}`
}

/** The server's first message. The page's first is its bare proof. */
export function writeGreeting(nonce: string, proof: string): string {
  return `${nonce} ${proof}`
}

/** The server's nonce and proof; undefined if the message is no greeting. */
export function readGreeting(message: unknown): { nonce: string; proof: string } | undefined {
  if (typeof message !== 'string') return undefined
  const [, nonce, proof] = /^([0-9a-f]{64}) ([0-9a-f]{64})$/.exec(message) ?? []
  return nonce === undefined || proof === undefined ? undefined : { nonce, proof }
}

export function isNonce(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text)
}
