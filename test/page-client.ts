import { once } from 'node:events'
import { WebSocket } from 'ws'
import { readGreeting } from '#contract/page-proof.ts'
import { proofOf } from '../electron/browser/page-server.ts'

/** A nonce of 32 bytes in hex; the server cannot tell that it is fixed. */
export const someNonce = '5a'.repeat(32)

interface Handshake {
  protocols?: string[]
  host?: string
  /** Undefined for no header. */
  origin?: string | undefined
  cookie?: string
}

/** Opens a socket like a page at the printed address, except for `handshake`. The host is not resolved. */
export function beginSocket(address: URL, handshake: Handshake = {}): WebSocket {
  const { protocols, ...given } = { protocols: ['berth', someNonce], host: address.host, ...handshake }
  const all = Object.entries({ origin: address.origin, ...given })
  const headers = Object.fromEntries(all.filter(([, value]) => value !== undefined))
  return new WebSocket(`ws://127.0.0.1:${address.port}/socket`, protocols, { headers })
}

/** Joins Berth as its page does: checks the server's proof and gives the page's. */
export async function joinBerth(printed: string | URL): Promise<WebSocket> {
  const address = new URL(printed)
  const token = address.hash.slice(1)
  const socket = beginSocket(address)
  const [first] = await once(socket, 'message')
  const greeting = readGreeting(String(first))
  const nonces = { page: someNonce, berth: greeting?.nonce ?? '' }
  if (greeting?.proof !== proofOf(token, 'berth', nonces)) throw new Error(`no proof: ${String(first)}`)
  socket.send(proofOf(token, 'page', nonces))
  return socket
}
