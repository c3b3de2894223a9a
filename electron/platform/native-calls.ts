/**
 * Calls into a native module. Each holds a thread until it returns, which no exit of the process outruns; and one that
 * returns while Electron ends aborts the process.
 */
export class NativeCalls {
  readonly #underWay = new Map<Promise<unknown>, number>()
  #isClosed = false

  /** Those that have not returned, with the `performance.now()` at which each began. */
  get underWay(): ReadonlyMap<Promise<unknown>, number> {
    return this.#underWay
  }

  /** Makes a call. Rejects once no other may begin. */
  async make<T>(call: () => Promise<T>): Promise<T> {
    if (this.#isClosed) throw new Error('Berth is ending')
    const made = call().finally(() => this.#underWay.delete(made))
    this.#underWay.set(made, performance.now())
    return made
  }

  /** Lets no other call begin. */
  close(): void {
    this.#isClosed = true
  }
}
