interface Waiting {
  dead: AbortSignal
  go: () => Promise<void>
}

/**
 * Every effect of a Berth waits here for its turn, so that a history says in what order they happen, and may end the
 * Berth between any two.
 */
export class Turns {
  #all: Waiting[] = []

  /** Does it once its turn is given, and resolves with what it gives; never for a Berth that has ended by then. */
  take<Result>(dead: AbortSignal, effect: () => Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#all.push({ dead, go: () => effect().then(resolve, reject) })
    })
  }

  get waiting(): number {
    this.#all = this.#all.filter(({ dead }) => !dead.aborted)
    return this.#all.length
  }

  /** Gives one its turn, and lets all go on that follows from it at once. */
  async give(which: number): Promise<void> {
    const { waiting } = this
    if (waiting > 0) await this.#all.splice(which % waiting, 1)[0]?.go()
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

/** A port as a Berth has it that may end at any moment: what is named waits for its turn, and a dead one does nothing. */
export function inTurn<Port extends object>(
  port: Port,
  names: readonly (keyof Port)[],
  turns: Turns,
  dead: AbortSignal,
): Port {
  return new Proxy(port, {
    get(_, name) {
      const value: unknown = Reflect.get(port, name)
      if (typeof value !== 'function') return value
      const call = (...args: unknown[]): unknown => Reflect.apply(value, port, args)
      if (!names.some(waiting => waiting === name)) return call
      return (...args: unknown[]) => turns.take(dead, async () => call(...args))
    },
  })
}
