import { decodeMessage, encodeMessage } from '../../electron/contract/bridge/frames.ts'
import type { Bridge, MainMessage, PageMessage } from '../../electron/contract/bridge/messages.ts'

/** How the page reaches the main process at this moment. */
export type Reach = 'connecting' | 'connected' | 'lost'

/** Milliseconds before the next try: 0.5 s, doubling up to 15 s, a third of it at random. */
export function backoff(failures: number, random: number): number {
  const whole = Math.min(15_000, 500 * 2 ** Math.min(failures, 10))
  return Math.round(whole * (2 / 3 + random / 3))
}

/**
 * The browser mode's bridge: a WebSocket that comes back by itself. What is posted while it is away is dropped;
 * `onReach` says when it is there again.
 */
export class SocketBridge implements Bridge {
  readonly #address: string
  readonly #token: string
  readonly #onReach: (reach: Reach) => void
  #socket: WebSocket | undefined
  #listener: (message: MainMessage) => void = () => {}
  #failures = 0

  constructor(address: string, token: string, onReach: (reach: Reach) => void) {
    this.#address = address
    this.#token = token
    this.#onReach = onReach
  }

  listen(listener: (message: MainMessage) => void): void {
    this.#listener = listener
    if (!this.#socket) this.#connect()
  }

  post(message: PageMessage): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(encodeMessage(message))
  }

  #connect(): void {
    const socket = new WebSocket(this.#address, ['berth', this.#token])
    socket.binaryType = 'arraybuffer'
    this.#socket = socket
    socket.onopen = () => {
      this.#failures = 0
      this.#onReach('connected')
    }
    socket.onmessage = ({ data }) => {
      const message = decodeMessage(data instanceof ArrayBuffer ? new Uint8Array(data) : String(data))
      if (message) this.#listener(message as MainMessage)
    }
    socket.onclose = () => {
      this.#onReach('lost')
      setTimeout(() => this.#connect(), backoff(this.#failures++, Math.random()))
    }
  }
}
