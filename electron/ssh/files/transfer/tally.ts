/** The progress of a transfer, in bytes and files. */
export interface Tally {
  readonly total: number
  readonly done: number
  readonly files: number
  readonly filesDone: number
  /** Whether the file with this index is complete. */
  isDone(file: number): boolean
  /** Sets how many bytes of a file have arrived, which may be fewer than before. */
  set(file: number, bytes: number): void
  finish(file: number): void
}

export function createTally(sizes: readonly number[], changed: () => void): Tally {
  const arrived = sizes.map(() => 0)
  const whole = new Set<number>()
  let done = 0
  const total = sizes.reduce((sum, size) => sum + size, 0)

  function set(file: number, bytes: number): void {
    done += bytes - (arrived[file] ?? 0)
    arrived[file] = bytes
    changed()
  }

  return {
    total,
    files: sizes.length,
    get done() {
      return done
    },
    get filesDone() {
      return whole.size
    },
    isDone: file => whole.has(file),
    set,
    finish(file) {
      whole.add(file)
      set(file, sizes[file] ?? 0)
    },
  }
}
