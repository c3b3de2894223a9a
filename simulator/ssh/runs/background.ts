/** Commands that go on without a connection, as an instance's processes do: until they end or the instance halts. */
export class Background {
  readonly #going = new Map<string, AbortController>()
  #halted = false

  /** Does nothing where one of that name goes on. `work` never rejects. */
  start(name: string, work: (signal: AbortSignal) => Promise<void>): void {
    if (this.#going.has(name)) return
    const ending = new AbortController()
    this.#going.set(name, ending)
    void work(ending.signal).finally(() => this.#going.delete(name))
  }

  isGoing(name: string): boolean {
    return this.#going.has(name)
  }

  end(name: string): void {
    this.#going.get(name)?.abort()
  }

  /** The instance does not run any more: what went on is gone without a word. */
  get halted(): boolean {
    return this.#halted
  }

  halt(): void {
    this.#halted = true
    for (const ending of this.#going.values()) ending.abort()
  }
}
