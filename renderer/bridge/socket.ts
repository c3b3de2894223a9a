import {
  type Bridge,
  decodeMessage,
  encodeMessage,
  type MainMessage,
  type PageMessage,
} from '#contract/messages.ts'
import { type Nonces, proofText, readGreeting } from '#contract/page-proof.ts'

/** The state of the page's connection to the main process; `ended` is final. */
export type Reach = 'connecting' | 'connected' | 'lost' | 'ended'

/** Milliseconds in which the server must prove that it is Berth. */
const proofWithin = 10_000
/** The close code that Berth sends when it ends. */
const goingAway = 1001

/** Milliseconds before the next try: 0.5 s, doubling up to 15 s, a third of it at random. */
export function backoff(failures: number, random: number): number {
  const whole = Math.min(15_000, 500 * 2 ** Math.min(failures, 10))
  return Math.round(whole * (2 / 3 + random / 3))
}

/**
 * Browser mode's bridge: a WebSocket that reconnects automatically. Another program may have taken Berth's port, so nothing
 * is sent or accepted before the server has proven that it knows the token. A server that cannot, and a Berth that says
 * goodbye, end the bridge permanently. Messages posted while disconnected are dropped; `onReach` tells the state.
 */
export class SocketBridge implements Bridge {
  readonly #address: string
  readonly #token: string
  readonly #onReach: (reach: Reach) => void
  /** The socket whose server has proven that it is Berth. */
  #proven: WebSocket | undefined
  #listener: ((message: MainMessage) => void) | undefined
  #failures = 0
  #ended = false

  constructor(address: string, token: string, onReach: (reach: Reach) => void) {
    this.#address = address
    this.#token = token
    this.#onReach = onReach
  }

  listen(listener: (message: MainMessage) => void): void {
    const first = this.#listener === undefined
    this.#listener = listener
    if (first) this.#connect()
  }

  post(message: PageMessage): void {
    if (this.#proven?.readyState === WebSocket.OPEN) this.#proven.send(encodeMessage(message))
  }

  #connect(): void {
    const nonce = newNonce()
    const socket = new WebSocket(this.#address, ['berth', nonce])
    socket.binaryType = 'arraybuffer'
    let opened = false
    let impatience: ReturnType<typeof setTimeout> | undefined
    socket.onopen = () => {
      opened = true
      impatience = setTimeout(() => this.#end(), proofWithin)
    }
    socket.onmessage = ({ data }) => {
      socket.onmessage = null
      clearTimeout(impatience)
      this.#check(socket, nonce, data).catch(() => this.#end())
    }
    socket.onclose = ({ code }) => {
      clearTimeout(impatience)
      const proven = this.#proven === socket
      this.#proven = undefined
      if (this.#ended) return
      if (proven ? code === goingAway : opened) return this.#end()
      this.#onReach('lost')
      setTimeout(() => this.#connect(), backoff(this.#failures++, Math.random()))
    }
  }

  /** Accepts the server once its proof is right, and sends the page's own proof. */
  async #check(socket: WebSocket, nonce: string, first: unknown): Promise<void> {
    const greeting = readGreeting(first)
    const nonces = { page: nonce, berth: greeting?.nonce ?? '' }
    if (greeting?.proof !== (await proofOf(this.#token, 'berth', nonces))) return this.#end()
    const proof = await proofOf(this.#token, 'page', nonces)
    if (socket.readyState !== WebSocket.OPEN) return
    socket.onmessage = ({ data }) => {
      const message = decodeMessage(data instanceof ArrayBuffer ? new Uint8Array(data) : String(data))
      if (message) this.#listener?.(message as MainMessage)
    }
    socket.send(proof)
    this.#proven = socket
    this.#failures = 0
    this.#onReach('connected')
  }

  /** Drops a socket of another program without a word: even a goodbye would be a message to it. */
  #end(): void {
    if (this.#ended) return
    this.#ended = true
    this.#proven = undefined
    this.#onReach('ended')
  }
}

/** 32 random bytes, in hex. */
function newNonce(): string {
  return hexOf(crypto.getRandomValues(new Uint8Array(32)))
}

/** A side's proof that it knows the token, in hex. */
async function proofOf(token: string, side: keyof Nonces, nonces: Nonces): Promise<string> {
  const utf8 = new TextEncoder()
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', utf8.encode(token), algorithm, false, ['sign'])
  const signed = await crypto.subtle.sign(algorithm, key, utf8.encode(proofText(side, nonces)))
  return hexOf(new Uint8Array(signed))
}

function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('')
}
