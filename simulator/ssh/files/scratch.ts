import { lstatSync, mkdirSync, readlinkSync, realpathSync, type Stats } from 'node:fs'
import { join, sep } from 'node:path'

/** A file operation that failed, with the code that the operating system would give. */
export class FileError extends Error {
  readonly code: string

  constructor(code: string) {
    super(code)
    this.name = 'FileError'
    this.code = code
  }
}

const reasons: Record<string, string> = {
  EACCES: 'Permission denied',
  EEXIST: 'File exists',
  EFBIG: 'File too large',
  EINVAL: 'Invalid argument',
  EISDIR: 'Is a directory',
  ELOOP: 'Too many levels of symbolic links',
  EMFILE: 'Too many open files',
  ENAMETOOLONG: 'File name too long',
  ENOENT: 'No such file or directory',
  ENOTDIR: 'Not a directory',
  ENOTEMPTY: 'Directory not empty',
  EPERM: 'Operation not permitted',
}

/** The code of a failed file operation, `EIO` where there is none. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'EIO'
}

/** What a shell prints about a failed file operation. Never names a path of this machine. */
export function reason(error: unknown): string {
  return reasons[errorCode(error)] ?? 'Input/output error'
}

/** How many links a path may go through, as in Linux. */
const maxLinks = 40

/** A place on the instance: its path there, its path on this machine, and its stats, if anything exists there. */
export interface Place {
  /** Absolute, `/` separated, links resolved. */
  path: string
  /** For `node:fs`, to be used at once (see Scratch). */
  real: string
  stats: Stats | undefined
}

/**
 * The instance's disk: a folder of this machine that it sees as `/`. Paths are walked name by name and links are
 * resolved here, as a chroot would: an absolute link starts again at the folder, `..` stops there. The operating
 * system is never asked to follow a link, so none leads out. Anyone who uses a place does so in the same turn of the
 * event loop, synchronously, so that no other session puts a link in between.
 */
export class Scratch {
  readonly #root: string

  /** `folder` exists. Puts the usual folders of an instance into it. */
  constructor(folder: string) {
    this.#root = realpathSync(folder)
    for (const name of ['root', 'tmp', 'workspace']) {
      if (this.at(`/${name}`, 'stay').stats === undefined) mkdirSync(join(this.#root, name))
    }
  }

  /**
   * The place of an absolute path. `lastLink`: whether a link at its end is followed. The last name may be missing.
   * Throws FileError `ENOENT`, `ENOTDIR`, `ELOOP`, `EINVAL`.
   */
  at(path: string, lastLink: 'follow' | 'stay'): Place {
    let ahead = names(path)
    let behind: string[] = []
    let links = 0
    for (let name = ahead.shift(); name !== undefined; name = ahead.shift()) {
      if (name === '..') {
        behind.pop()
        continue
      }
      const real = join(this.#root, ...behind, checked(name))
      const stats = lstatSync(real, { throwIfNoEntry: false })
      const last = ahead.length === 0
      if (stats?.isSymbolicLink() && (!last || lastLink === 'follow')) {
        links += 1
        if (links > maxLinks) throw new FileError('ELOOP')
        const target = readlinkSync(real)
        if (target.startsWith('/')) behind = []
        ahead = [...names(target), ...ahead]
        continue
      }
      if (!last && stats === undefined) throw new FileError('ENOENT')
      if (!last && !stats?.isDirectory()) throw new FileError('ENOTDIR')
      behind.push(name)
    }
    const real = join(this.#root, ...behind)
    return { path: `/${behind.join('/')}`, real, stats: lstatSync(real, { throwIfNoEntry: false }) }
  }

  /** As `at`, for a place that must exist. Throws FileError `ENOENT` too. */
  existing(path: string, lastLink: 'follow' | 'stay'): Place & { stats: Stats } {
    const place = this.at(path, lastLink)
    if (place.stats === undefined) throw new FileError('ENOENT')
    return { ...place, stats: place.stats }
  }
}

function names(path: string): string[] {
  return path.split('/').filter(name => name !== '' && name !== '.')
}

/** Checks that the operating system reads it as one name too: on Windows `\` and `:` have meanings. */
function checked(name: string): string {
  if (name.includes('\0') || (sep === '\\' && /[\\:]/.test(name))) throw new FileError('EINVAL')
  if (Buffer.byteLength(name) > 255) throw new FileError('ENAMETOOLONG')
  return name
}
