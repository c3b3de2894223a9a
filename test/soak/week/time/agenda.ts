interface Entry {
  at: number
  what: () => unknown
}

/** What is to happen, and when: epoch milliseconds of world time. */
export class Agenda {
  #entries: Entry[] = []

  /** What is given is waited for in real time. Gives the function that takes it off again. */
  add(at: number, what: () => unknown): () => void {
    const entry = { at: Math.ceil(at), what }
    this.#entries.push(entry)
    return () => {
      this.#entries = this.#entries.filter(one => one !== entry)
    }
  }

  next(): number | undefined {
    return this.#entries.length === 0 ? undefined : Math.min(...this.#entries.map(({ at }) => at))
  }

  /** Does what is due by now, in its order; of two at one time the one that was added first. */
  async come(now: number): Promise<void> {
    for (;;) {
      const due = this.#entries.filter(({ at }) => at <= now)
      const first = due.reduce<Entry | undefined>((a, b) => (a && a.at <= b.at ? a : b), undefined)
      if (!first) return
      this.#entries = this.#entries.filter(one => one !== first)
      await first.what()
    }
  }
}
