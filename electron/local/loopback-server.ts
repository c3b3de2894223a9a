import { randomInt } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import { tunnelPorts } from '../ssh/tunnels/local-port.ts'

/**
 * Bytes of headers that a server on 127.0.0.1 must take: cookies ignore ports, so whatever other pages of this machine
 * set there comes along, and a browser keeps up to 180 of 4 KB.
 */
export const withForeignCookies = 1024 * 1024

/** A server that any user of this machine can reach: connections are limited, and dropped when they ask for nothing. */
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

/** The ports for browser mode to try: the one asked for, or with 0 such as are drawn, never one that a tunnel may have. */
export function* pagePorts(asked: number): Generator<number> {
  if (asked !== 0) return yield asked
  for (let attempt = 0; attempt < 100; attempt++) yield randomInt(tunnelPorts.to + 1, 65_536)
}
