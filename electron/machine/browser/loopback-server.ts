import { createHash, randomBytes, randomInt, timingSafeEqual } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import { tunnelPorts } from '#ssh/tunnels/local-port.ts'

/**
 * Bytes of headers that a server on 127.0.0.1 must accept: cookies ignore ports, so the browser sends those of other
 * local pages too, up to 180 of 4 KB.
 */
export const withForeignCookies = 1024 * 1024

/** Every user of this machine can reach it, so connections are limited, and idle ones dropped. */
export function loopbackServer(maxHeaderSize = 16 * 1024): Server {
  const server = createServer({
    maxHeaderSize,
    headersTimeout: 5_000,
    requestTimeout: 10_000,
    connectionsCheckingInterval: 1_000,
  })
  server.maxConnections = 128
  return server
}

/** The ports for browser mode to try: the one asked for, or for 0 random ones, all above those of tunnels. */
export function* pagePorts(asked: number): Generator<number> {
  if (asked !== 0) return yield asked
  for (let attempt = 0; attempt < 100; attempt++) yield randomInt(tunnelPorts.to + 1, 65_536)
}

/** 256 random bits in characters that addresses and subprotocols allow. */
export function newPageToken(): string {
  return randomBytes(32).toString('base64url')
}

/** Compares tokens in a time that does not depend on where they differ. */
export function sameToken(given: string, token: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(token))
}
