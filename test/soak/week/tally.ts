/** Counts events by name. */
export class Tally {
  readonly #counts = new Map<string, number>()

  add(what: string, times = 1): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + times)
  }

  of(what: string): number {
    return this.#counts.get(what) ?? 0
  }

  /** Such as `3 kills, 12 guards`, in order of the first event. */
  toString(): string {
    return [...this.#counts].map(([what, times]) => `${times} ${what}`).join(', ')
  }
}
