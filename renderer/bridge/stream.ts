import { type StreamMessage, streamWindow } from '#contract/messages.ts'
import type { Problem } from '#shared/problem.ts'

/** Consumed bytes are granted back in pieces of a quarter of the window, so that the sender never has to wait. */
const grantPiece = streamWindow / 4
/** The largest piece sent in one message. */
const sendPiece = 32 * 1024

/** The page's end of one stream of bytes. */
export class PageStream {
  readonly id: number
  readonly #post: (message: StreamMessage) => void
  #room = streamWindow
  #consumed = 0
  #waiting: Uint8Array[] = []
  #early: Uint8Array[] = []
  #onData: ((bytes: Uint8Array) => void) | undefined
  #onEnd: ((problem?: Problem) => void) | undefined
  #end: { problem?: Problem } | undefined

  constructor(id: number, post: (message: StreamMessage) => void) {
    this.id = id
    this.#post = post
  }

  /** Sets the reader, which gets earlier bytes at once. */
  read(onData: (bytes: Uint8Array) => void, onEnd: (problem?: Problem) => void): void {
    this.#onData = onData
    this.#onEnd = onEnd
    for (const bytes of this.#early.splice(0)) onData(bytes)
    if (this.#end) onEnd(this.#end.problem)
  }

  /** Reports bytes from `read` as processed, so that as many more may be sent. */
  consumed(bytes: number): void {
    this.#consumed += bytes
    if (this.#consumed < grantPiece || this.#end) return
    this.#post({ kind: 'grant', stream: this.id, bytes: this.#consumed })
    this.#consumed = 0
  }

  /** Sends bytes, as far as the other side's window allows; the rest waits. */
  write(bytes: Uint8Array): void {
    if (this.#end || bytes.length === 0) return
    this.#waiting.push(bytes)
    this.#flush()
  }

  /** Written bytes that wait for the window. */
  get waitingBytes(): number {
    return this.#waiting.reduce((sum, bytes) => sum + bytes.length, 0)
  }

  /** Ends it from this side. */
  close(): void {
    if (this.#end) return
    this.#end = {}
    this.#waiting = []
    this.#post({ kind: 'end', stream: this.id })
  }

  /** Takes in a message of the other side. */
  take(message: StreamMessage): void {
    if (this.#end) return
    if (message.kind === 'grant') {
      this.#room += message.bytes
      this.#flush()
    } else if (message.kind === 'data') {
      if (this.#onData) this.#onData(message.bytes)
      else this.#early.push(message.bytes)
    } else {
      this.#end = message.problem ? { problem: message.problem } : {}
      this.#waiting = []
      this.#onEnd?.(message.problem)
    }
  }

  #flush(): void {
    while (this.#room > 0) {
      const next = this.#waiting[0]
      if (!next) return
      const piece = next.subarray(0, Math.min(next.length, this.#room, sendPiece))
      if (piece.length === next.length) this.#waiting.shift()
      else this.#waiting[0] = next.subarray(piece.length)
      this.#room -= piece.length
      this.#post({ kind: 'data', stream: this.id, bytes: piece })
    }
  }
}
