/** So many at once; the rest in the order in which they came. */
export class Turns {
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(free: number) {
    this.#free = free
  }

  /** Resolves with what gives the turn back. */
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
