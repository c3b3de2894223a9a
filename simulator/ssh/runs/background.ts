/** Commands that run without a connection, until they end or the instance halts. */
export class Background {
  readonly #going = new Map<string, AbortController>()
  #halted = false

  /** Does nothing while one of that name runs. `work` never rejects. */
  start(name: string, work: (signal: AbortSignal) => Promise<void>): void {
    if (this.#going.has(name)) return
    const quitting = new AbortController()
    this.#going.set(name, quitting)
    void work(quitting.signal).finally(() => this.#going.delete(name))
  }

  isGoing(name: string): boolean {
    return this.#going.has(name)
  }

  end(name: string): void {
    this.#going.get(name)?.abort()
  }

  /** Whether the instance has halted, which ended all commands silently. */
  get halted(): boolean {
    return this.#halted
  }

  halt(): void {
    this.#halted = true
    for (const quitting of this.#going.values()) quitting.abort()
  }
}
