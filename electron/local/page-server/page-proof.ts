import { createHmac, randomBytes } from 'node:crypto'
import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import { type Nonces, proofText, writeGreeting } from '../../contract/bridge/proof.ts'
import { sameToken } from './page-token.ts'

/** Sockets that may wait at once for the page's proof. */
const mostWaiting = 32
/** Bytes heard of a page, and milliseconds waited for it, before it has proven itself. */
const mostHeard = 8 * 1024
const patience = 5_000

/** A side's proof that it knows the token, in hex. */
export function proofOf(token: string, side: keyof Nonces, nonces: Nonces): string {
  return createHmac('sha256', token).update(proofText(side, nonces)).digest('hex')
}

/** Greets pages: proves Berth to them, and lets in those that prove themselves. The others are few, and soon gone. */
export class PageGreeter {
  readonly #token: string
  readonly #waiting = new Set<WebSocket>()

  constructor(token: string) {
    this.#token = token
  }

  /** Whether as many pages wait as may. */
  get isFull(): boolean {
    return this.#waiting.size >= mostWaiting
  }

  /** Calls `letIn` once the page has proven itself. `socket` is what carries it, `nonce` the page's. */
  greet(page: WebSocket, socket: Duplex, nonce: string, letIn: () => void): void {
    const nonces = { page: nonce, berth: randomBytes(32).toString('hex') }
    let heard = 0
    const count = (bytes: Uint8Array) => {
      heard += bytes.length
      if (heard > mostHeard) page.terminate()
    }
    const impatience = setTimeout(() => page.terminate(), patience)
    const forget = () => {
      clearTimeout(impatience)
      socket.off('data', count)
      this.#waiting.delete(page)
    }

    this.#waiting.add(page)
    socket.on('data', count)
    page.once('close', forget)
    page.once('message', data => {
      forget()
      if (sameToken(String(data), proofOf(this.#token, 'page', nonces))) letIn()
      else page.terminate()
    })
    page.send(writeGreeting(nonces.berth, proofOf(this.#token, 'berth', nonces)))
  }
}
