/** Lets so many run at once; the others wait in order. */
export class Turns {
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(free: number) {
    this.#free = free
  }

  /** Resolves with a function that gives the turn back. */
  async take(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted()
    if (this.#free === 0) {
      await new Promise<void>((resolve, reject) => {
        const go = () => {
          signal.removeEventListener('abort', leave)
          resolve()
        }
        const leave = () => {
          const at = this.#waiting.indexOf(go)
          if (at >= 0) this.#waiting.splice(at, 1)
          reject(signal.reason)
        }
        this.#waiting.push(go)
        signal.addEventListener('abort', leave, { once: true })
      })
    } else this.#free--
    let given = false
    return () => {
      if (given) return
      given = true
      const next = this.#waiting.shift()
      if (next) next()
      else this.#free++
    }
  }
}
