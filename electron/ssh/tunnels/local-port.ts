import type { Server } from 'node:net'
import { BerthError } from '../../contract/problem.ts'

/** Which ports of this machine a tunnel may have. */
export interface PortChoice {
  /** Ports that browser mode uses or used: what a browser keeps for such an origin must never meet another page. */
  reserved: ReadonlySet<number>
  /** The port that the same tunnel had before, so that an open page finds it again. */
  preferred?: number | undefined
  /** From 0 up to 1. */
  random: () => number
}

/**
 * Below what systems give away by themselves, so that browser mode, which asks for any free port, does not come upon
 * an origin for which a page of an instance has left something behind.
 */
const first = 20_000
const count = 10_000
const tries = 100

/** The ports that tunnels take, `to` included. */
export const tunnelPorts = { from: first, to: first + count - 1 }

/** Listens on 127.0.0.1. Throws `no_free_port`. */
export async function listenLocally(server: Server, choice: PortChoice): Promise<number> {
  const { reserved, preferred, random } = choice
  for (let attempt = 0; attempt < tries; attempt++) {
    const drawn = first + Math.floor(random() * count)
    const port = attempt === 0 && preferred !== undefined ? preferred : drawn
    if (!reserved.has(port) && (await listens(server, port))) return port
  }
  throw new BerthError({
    code: 'no_free_port',
    message: 'No port of this machine was free for the tunnel.',
    advice: 'Close other tunnels, then try again.',
  })
}

function listens(server: Server, port: number): Promise<boolean> {
  return new Promise(resolve => {
    const failed = () => resolve(false)
    server.once('error', failed)
    server.listen({ host: '127.0.0.1', port, exclusive: true }, () => {
      server.off('error', failed)
      resolve(true)
    })
  })
}
