interface Waiting {
  dead: AbortSignal
  go: () => Promise<void>
}

/**
 * Every effect of a process of Berth waits here for its turn, so that a history sets their order and can kill the
 * process between any two.
 */
export class Turns {
  #all: Waiting[] = []

  /** Runs the effect at its turn and resolves with its result; never, once the process has been killed. */
  take<Result>(dead: AbortSignal, effect: () => Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#all.push({ dead, go: () => effect().then(resolve, reject) })
    })
  }

  get waiting(): number {
    this.#all = this.#all.filter(({ dead }) => !dead.aborted)
    return this.#all.length
  }

  /** Gives one its turn, and lets what follows at once happen. */
  async give(which: number): Promise<void> {
    const { waiting } = this
    if (waiting > 0) await this.#all.splice(which % waiting, 1)[0]?.go()
    await new Promise(resolve => setImmediate(resolve))
  }

  /** Gives turns until none is waiting. */
  async all(): Promise<void> {
    await new Promise(resolve => setImmediate(resolve))
    for (let given = 0; this.waiting > 0; given += 1) {
      if (given > 5000) throw new Error('it never comes to rest')
      await this.give(0)
    }
  }
}

/** A port whose named methods wait for their turn, and do nothing once the process has been killed. */
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
