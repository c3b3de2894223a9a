/** What happened, counted. */
export class Tally {
  readonly #counts = new Map<string, number>()

  add(what: string, times = 1): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + times)
  }

  of(what: string): number {
    return this.#counts.get(what) ?? 0
  }

  /** `3 kills, 12 guards`, in the order in which they first happened. */
  toString(): string {
    return [...this.#counts].map(([what, times]) => `${times} ${what}`).join(', ')
  }
}
