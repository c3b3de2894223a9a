/** Polls in a row without an instance until it counts as gone: a single poll may have begun before it existed. */
export const pollsUntilGone = 2

/** Counts the polls in a row without an instance. */
export class MissingPolls {
  readonly #counts = new Map<number, number>()

  /**
   * A new poll, by what is there or may be. Gives how many polls in a row were without an instance: each counts from
   * the first that it was asked at, however often that is.
   */
  next(mayBeThere: (instance: number) => boolean): (instance: number) => number {
    for (const instance of this.#counts.keys()) if (mayBeThere(instance)) this.#counts.delete(instance)
    const counted = new Map<number, number>()
    return instance => {
      if (mayBeThere(instance)) return 0
      const count = counted.get(instance) ?? (this.#counts.get(instance) ?? 0) + 1
      counted.set(instance, count)
      this.#counts.set(instance, count)
      return count
    }
  }
}
