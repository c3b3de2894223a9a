import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs'

/**
 * For files that a stranger may have put there. Non-blocking, since opening a named pipe waits for a writer, and would
 * take one of the four threads that all file work shares; a link is not followed.
 */
export const readOnly = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)

/** `readOnly` for the user's own settings, which may be links. */
export const readLinked = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)

export interface RegularFile {
  bytes: Buffer
  stats: Stats
}

/** A whole file; undefined if it's none, is longer than `most` bytes, or is no regular file, such as a pipe. */
export function readRegular(path: string, most: number, flags: number = readOnly): RegularFile | undefined {
  let file: number | undefined
  try {
    file = openSync(path, flags)
    const stats = fstatSync(file)
    if (!stats.isFile() || stats.size > most) return undefined
    const bytes = Buffer.allocUnsafe(stats.size)
    let filled = 0
    while (filled < bytes.length) {
      const read = readSync(file, bytes, filled, bytes.length - filled, filled)
      if (read === 0) return undefined
      filled += read
    }
    return { bytes, stats }
  } catch {
    return undefined
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

/** Whether there is a regular file of at most `most` bytes; a link counts as what it names. */
export function isRegular(path: string, most: number): boolean {
  let file: number | undefined
  try {
    file = openSync(path, readLinked)
    const stats = fstatSync(file)
    return stats.isFile() && stats.size <= most
  } catch {
    return false
  } finally {
    if (file !== undefined) closeSync(file)
  }
}
