import type { Sftp } from '../sftp.ts'
import type { Tally } from './tally.ts'

/**
 * Files to be moved. It can be run again after a pause or a lost connection, and goes on where it was; what it knows
 * of its own files it keeps.
 */
export interface Job {
  /** Looks what there is to do, once. */
  prepare(sftp: Sftp, signal: AbortSignal): Promise<void>
  /** Resolves when all is there. Rejects with SftpLost when the connection went, or the signal's reason. */
  run(sftp: Sftp, signal: AbortSignal): Promise<void>
  /** Undefined before `prepare`. */
  tally(): Tally | undefined
  leftOut(): number
  /** Removes what arrived of files that are not whole. Without SFTP, as far as that goes. */
  discard(sftp: Sftp | undefined): Promise<void>
}

/** Files of at most so many bytes go several at a time; larger ones fill the line alone. */
const small = 1024 * 1024
const smallAtOnce = 8

/** Does the work for each, in their order. The first failure ends it, once what is under way has ended. */
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
