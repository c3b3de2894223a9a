interface Entry {
  at: number
  what: () => unknown
}

/** Planned actions by time, in epoch milliseconds of world time. */
export class Agenda {
  #entries: Entry[] = []

  /** Plans an action, whose promise is awaited in real time. Gives the function that cancels it. */
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

  /** Runs the actions due by now by time, and in order of addition at the same time. */
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
