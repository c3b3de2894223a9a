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

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const bits = 'rwxrwxrwx'

/** One line of `ls -l`, without the name. Everything belongs to root, as on an instance. Times are UTC. */
export function longLine(stats: Stats, sizeWidth = 8): string {
  const kind = stats.isDirectory() ? 'd' : stats.isSymbolicLink() ? 'l' : '-'
  const mode = [...bits].map((bit, index) => (stats.mode & (0o400 >> index) ? bit : '-')).join('')
  const at = stats.mtime
  const time = `${pad(at.getUTCHours())}:${pad(at.getUTCMinutes())}`
  const day = `${months[at.getUTCMonth()]} ${String(at.getUTCDate()).padStart(2)} ${time}`
  return `${kind}${mode} ${String(stats.nlink).padStart(2)} root root ${String(stats.size).padStart(sizeWidth)} ${day}`
}

function pad(number: number): string {
  return String(number).padStart(2, '0')
}
