/** Milliseconds in which further keys are sent together. Only key repeats and programs are that fast. */
const together = 4

/** Sends typed bytes to the shell: a single key at once, a flood of keys in batches. */
export class Typing {
  readonly #send: (bytes: Uint8Array) => void
  #held: Uint8Array[] = []
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(send: (bytes: Uint8Array) => void) {
    this.#send = send
  }

  take(bytes: Uint8Array): void {
    this.#held.push(bytes)
    if (this.#timer === undefined) this.#flush()
  }

  #flush(): void {
    this.#timer = undefined
    const [first, ...further] = this.#held
    if (!first) return
    this.#held = []
    this.#send(further.length === 0 ? first : joined([first, ...further]))
    this.#timer = setTimeout(() => this.#flush(), together)
  }
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}
