import type { Stats } from 'node:fs'
import type { Attributes } from 'ssh2'

/** A file's attributes in SFTP; everything on an instance belongs to root. Times in epoch seconds. */
export function attributesOf(stats: Stats): Attributes {
  return {
    mode: stats.mode,
    uid: 0,
    gid: 0,
    size: stats.size,
    atime: Math.floor(stats.atimeMs / 1000),
    mtime: Math.floor(stats.mtimeMs / 1000),
  }
}

/** The changes a client asks for. ssh2 omits attributes that were not sent, which its types do not say. */
export interface Wanted {
  mode: number | undefined
  size: number | undefined
  /** Epoch seconds. */
  times: { access: number; change: number } | undefined
}

/** Reads a client's attributes. Owners are ignored; of the mode, only the nine permission bits count. */
export function wanted(attributes: Partial<Attributes>): Wanted {
  const { mode, size, atime, mtime } = attributes
  return {
    mode: mode === undefined ? undefined : mode & 0o777,
    size,
    times: atime === undefined || mtime === undefined ? undefined : { access: atime, change: mtime },
  }
}
