import type { Server } from 'node:net'
import { BerthError } from '#shared/problem.ts'

/** The choice of a tunnel's port on this computer. */
export interface PortChoice {
  /** The tunnel's earlier port, so that an open page finds it again. */
  preferred?: number
  /** A random number from 0 up to 1. */
  random: () => number
}

/**
 * Below browser mode's ports, so that browser mode never runs at an origin where an instance's page has left data in
 * the browser.
 */
const first = 20_000
const count = 10_000
const tries = 100

/** The local ports that tunnels use, `to` included. */
export const tunnelPorts = { from: first, to: first + count - 1 }

/** A loopback port, with a server for each loopback address. */
export interface Listening {
  port: number
  servers: readonly Server[]
}

/** Listens for a tunnel. Throws `no_free_port`. */
export async function listenForTunnel(choice: PortChoice, open: () => Server): Promise<Listening> {
  try {
    return await listenOnLoopback(drawnPorts(choice), open)
  } catch {
    throw new BerthError({
      code: 'no_free_port',
      message: 'No local port was free for the tunnel.',
      advice: 'Close other tunnels, then try again.',
    })
  }
}

function* drawnPorts({ preferred, random }: PortChoice): Generator<number> {
  if (preferred !== undefined) yield preferred
  for (let attempt = 0; attempt < tries; attempt++) yield first + Math.floor(random() * count)
}

/**
 * Listens on both loopback addresses, on the first of these ports that is free: a browser may use either address for a
 * name below `localhost`, and another user must not get one of the two. `open` creates a server for a port. Rejects
 * with the system's error if none is free.
 */
export async function listenOnLoopback<Opened extends Server>(
  ports: Iterable<number>,
  open: (port: number) => Opened,
): Promise<{ port: number; servers: readonly Opened[] }> {
  let taken: unknown
  for (const port of ports) {
    const four = open(port)
    const six = open(port)
    try {
      await listen(four, '127.0.0.1', port)
      return { port, servers: (await listensOn6(six, port)) ? [four, six] : [four] }
    } catch (error) {
      four.close()
      if (!isOneOf(error, ['EADDRINUSE', 'EACCES'])) throw error
      taken = error
    }
  }
  throw taken
}

/** False on a machine without IPv6. */
async function listensOn6(server: Server, port: number): Promise<boolean> {
  try {
    await listen(server, '::1', port)
    return true
  } catch (error) {
    if (isOneOf(error, ['EADDRNOTAVAIL', 'EAFNOSUPPORT'])) return false
    throw error
  }
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port, exclusive: true }, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

function isOneOf(error: unknown, codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code))
}
