import { createHmac, randomBytes } from 'node:crypto'
import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import { type Nonces, proofText, writeGreeting } from '#contract/bridge/proof.ts'
import { sameToken } from './page-token.ts'

/** The most sockets that wait for the page's proof at once. */
const mostWaiting = 32
/** The most bytes and milliseconds that a page may take for its proof. */
const mostHeard = 8 * 1024
const patience = 5_000

/** A side's proof that it knows the token, in hex. */
export function proofOf(token: string, side: keyof Nonces, nonces: Nonces): string {
  return createHmac('sha256', token).update(proofText(side, nonces)).digest('hex')
}

/** Proves Berth to pages, and lets in pages that prove themselves. Others are few, and soon disconnected. */
export class PageGreeter {
  readonly #token: string
  readonly #waiting = new Set<WebSocket>()

  constructor(token: string) {
    this.#token = token
  }

  /** Whether the most pages wait already. */
  get isFull(): boolean {
    return this.#waiting.size >= mostWaiting
  }

  /** Calls `letIn` once the page has proven itself. `socket` is the one below it, `nonce` the page's. */
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
