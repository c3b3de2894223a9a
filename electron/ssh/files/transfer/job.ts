import type { Sftp } from '../sftp.ts'

/** An upload or download. After a pause or a lost connection it can be run again, and resumes. */
export interface TransferJob {
  /** Lists the files to transfer; called once. */
  prepare(sftp: Sftp, signal: AbortSignal): Promise<void>
  /** Resolves when all files have arrived. Rejects with SftpLost, or with the signal's reason. */
  run(sftp: Sftp, signal: AbortSignal): Promise<void>
  /** Undefined before `prepare`. */
  tally(): Tally | undefined
  leftOut(): number
  /** Removes partial files; without SFTP, only those on this machine. */
  discard(sftp: Sftp | undefined): Promise<void>
}

/** Files of at most this many bytes are transferred several at a time, larger ones one after the other. */
const small = 1024 * 1024
const smallAtOnce = 8

/** Runs `work` for each file, in order. After a failure no file is begun; rejects once those in progress have ended. */
export async function forEachFile(
  sizes: readonly number[],
  signal: AbortSignal,
  work: (file: number, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const failing = new AbortController()
  const either = AbortSignal.any([signal, failing.signal])
  let next = 0
  let large: Promise<void> = Promise.resolve()
  let failure: { error: unknown } | undefined

  async function worker(): Promise<void> {
    while (next < sizes.length && !either.aborted) {
      const file = next++
      try {
        if ((sizes[file] ?? 0) <= small) await work(file, either)
        else {
          const mine = large.then(() => (either.aborted ? undefined : work(file, either)))
          large = mine.catch(() => undefined)
          await mine
        }
      } catch (error) {
        failure ??= { error }
        failing.abort(error)
      }
    }
  }

  await Promise.all(Array.from({ length: Math.min(smallAtOnce, sizes.length) }, worker))
  signal.throwIfAborted()
  if (failure) throw failure.error
}

export type Tally = ReturnType<typeof createTally>

/** The progress of a transfer, in bytes and files. */
export function createTally(sizes: readonly number[], changed: () => void) {
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
    get done(): number {
      return done
    },
    get filesDone(): number {
      return whole.size
    },
    /** Whether the file with this index is complete. */
    isDone: (file: number): boolean => whole.has(file),
    /** Sets how many bytes of a file have arrived, which may be fewer than before. */
    set,
    finish(file: number): void {
      whole.add(file)
      set(file, sizes[file] ?? 0)
    },
  }
}
