interface Waiting {
  dead: AbortSignal
  go: () => void
}

/**
 * Every effect that is awaited waits here for its turn, so that a history says in what order they happen, and may end
 * a Berth between any two.
 */
export class Turns {
  #all: Waiting[] = []

  /** Resolves once its turn is given; never for a Berth that has ended by then. */
  take(dead: AbortSignal): Promise<void> {
    return new Promise(resolve => this.#all.push({ dead, go: resolve }))
  }

  get waiting(): number {
    this.#all = this.#all.filter(({ dead }) => !dead.aborted)
    return this.#all.length
  }

  /** Whether anything of that Berth is under way. */
  awaits(berth: AbortSignal): boolean {
    return this.#all.some(({ dead }) => dead === berth)
  }

  /** Gives the turn to what began to wait last, as where the disk is slower than the service. */
  newest(): Promise<void> {
    return this.give(Math.max(0, this.waiting - 1))
  }

  /** Gives one its turn, and lets all go on that follows from it at once. */
  async give(which: number): Promise<void> {
    const { waiting } = this
    if (waiting > 0) this.#all.splice(which % waiting, 1)[0]?.go()
    await new Promise(resolve => setImmediate(resolve))
  }

  /** Gives turns until none is waited for. */
  async all(): Promise<void> {
    await new Promise(resolve => setImmediate(resolve))
    for (let given = 0; this.waiting > 0; given += 1) {
      if (given > 5000) throw new Error('it never comes to rest')
      await this.give(0)
    }
  }
}
