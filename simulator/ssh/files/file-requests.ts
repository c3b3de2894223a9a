import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  ftruncateSync,
  futimesSync,
  lstatSync,
  mkdirSync,
  openSync,
  read,
  readdirSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  type Stats,
  symlinkSync,
  truncateSync,
  unlinkSync,
  utimesSync,
  write,
} from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import ssh2, { type FileEntry } from 'ssh2'
import { attributesOf, longLine, type Wanted } from './attributes.ts'
import { FileError, type Scratch } from './scratch.ts'

const readAt = promisify(read)
const writeAt = promisify(write)
const { OPEN_MODE } = ssh2.utils.sftp

/** The most bytes of an answer, so that it fits a packet. */
const longestRead = 255 * 1024
const entriesPerAnswer = 100

/** The most that a client may have open at once. */
const mostOpen = 256

/** An open file or folder. */
type Opened =
  | { kind: 'file'; descriptor: number; appends: boolean }
  | { kind: 'folder'; path: string; ahead: string[] }

/** Relative paths start in the shell's folder. */
const home = '/workspace'

/**
 * The file requests of SFTP version 3 on the scratch folder. Places are found and used synchronously, as Scratch
 * requires; bytes move through descriptors, which no link can redirect. All throw FileError, or `node:fs` errors with
 * the same codes.
 */
export class FileRequests {
  readonly #files: Scratch
  /** By the four bytes that name them, as a number. */
  readonly #opened = new Map<number, Opened>()
  #last = 0

  constructor(files: Scratch) {
    this.#files = files
  }

  open(path: string, mode: number, { mode: permissions = 0o644 }: Wanted): Buffer {
    this.#makeRoom()
    const exclusive = Boolean(mode & OPEN_MODE.CREAT && mode & OPEN_MODE.EXCL)
    const place = this.#files.at(absolute(path), exclusive ? 'stay' : 'follow')
    if (place.stats !== undefined && exclusive) throw new FileError('EEXIST')
    if (place.stats?.isDirectory()) throw new FileError('EISDIR')
    if (place.stats !== undefined && !place.stats.isFile()) throw new FileError('EACCES')
    const descriptor = openSync(place.real, openFlags(mode), permissions)
    return this.#add({ kind: 'file', descriptor, appends: Boolean(mode & OPEN_MODE.APPEND) })
  }

  /** Undefined at the end of the file. */
  async read(handle: Buffer, offset: number, length: number): Promise<Buffer | undefined> {
    const { descriptor } = this.#get('file', handle)
    const buffer = Buffer.allocUnsafe(Math.min(length, longestRead))
    const { bytesRead } = await readAt(descriptor, buffer, 0, buffer.length, offset)
    return bytesRead === 0 && length > 0 ? undefined : buffer.subarray(0, bytesRead)
  }

  async write(handle: Buffer, offset: number, data: Buffer): Promise<void> {
    const { descriptor, appends } = this.#get('file', handle)
    let done = 0
    while (done < data.length) {
      const position = appends ? null : offset + done
      const { bytesWritten } = await writeAt(descriptor, data, done, data.length - done, position)
      done += bytesWritten
    }
  }

  openFolder(path: string): Buffer {
    this.#makeRoom()
    const place = this.#files.existing(absolute(path), 'follow')
    if (!place.stats.isDirectory()) throw new FileError('ENOTDIR')
    const ahead = ['.', '..', ...readdirSync(place.real)]
    return this.#add({ kind: 'folder', path: place.path, ahead })
  }

  /** The next entries of an open folder; undefined when there are no more. */
  entries(handle: Buffer): FileEntry[] | undefined {
    const folder = this.#get('folder', handle)
    if (folder.ahead.length === 0) return undefined
    // Looked up each time: the folder may have been moved, and replaced by a link.
    const { real } = this.#files.existing(folder.path, 'stay')
    return folder.ahead.splice(0, entriesPerAnswer).flatMap(name => {
      const stats = lstatSync(name === '..' ? real : join(real, name), { throwIfNoEntry: false })
      if (stats === undefined) return []
      return [{ filename: name, longname: `${longLine(stats)} ${name}`, attrs: attributesOf(stats) }]
    })
  }

  close(handle: Buffer): void {
    const opened = this.#opened.get(numberOf(handle))
    if (opened === undefined) throw new FileError('EBADF')
    this.#opened.delete(numberOf(handle))
    if (opened.kind === 'file') closeSync(opened.descriptor)
  }

  closeAll(): void {
    for (const opened of this.#opened.values()) if (opened.kind === 'file') closeSync(opened.descriptor)
    this.#opened.clear()
  }

  stat(path: string, lastLink: 'follow' | 'stay'): Stats {
    return this.#files.existing(absolute(path), lastLink).stats
  }

  handleStat(handle: Buffer): Stats {
    return fstatSync(this.#get('file', handle).descriptor)
  }

  change(path: string, { mode, size, times }: Wanted): void {
    const { real, stats } = this.#files.existing(absolute(path), 'follow')
    if (size !== undefined && !stats.isFile()) throw new FileError('EINVAL')
    if (size !== undefined) truncateSync(real, size)
    if (mode !== undefined) chmodSync(real, mode)
    if (times !== undefined) utimesSync(real, times.access, times.change)
  }

  handleChange(handle: Buffer, { mode, size, times }: Wanted): void {
    const { descriptor } = this.#get('file', handle)
    if (size !== undefined) ftruncateSync(descriptor, size)
    if (mode !== undefined) fchmodSync(descriptor, mode)
    if (times !== undefined) futimesSync(descriptor, times.access, times.change)
  }

  remove(path: string): void {
    const { real, stats } = this.#files.existing(absolute(path), 'stay')
    if (stats.isDirectory()) throw new FileError('EISDIR')
    unlinkSync(real)
  }

  makeFolder(path: string, { mode = 0o755 }: Wanted): void {
    const place = this.#files.at(absolute(path), 'stay')
    if (place.stats !== undefined) throw new FileError('EEXIST')
    mkdirSync(place.real, mode)
  }

  removeFolder(path: string): void {
    const { real, stats, path: found } = this.#files.existing(absolute(path), 'stay')
    if (found === '/') throw new FileError('EPERM')
    if (!stats.isDirectory()) throw new FileError('ENOTDIR')
    rmdirSync(real)
  }

  /** Fails where the new path exists, as version 3 requires. */
  rename(from: string, to: string): void {
    const source = this.#files.existing(absolute(from), 'stay')
    const target = this.#files.at(absolute(to), 'stay')
    if (source.path === '/') throw new FileError('EPERM')
    if (target.stats !== undefined) throw new FileError('EEXIST')
    renameSync(source.real, target.real)
  }

  /** The path without links, `.` and `..`; its last name need not exist. */
  realPath(path: string): string {
    return this.#files.at(absolute(path), 'follow').path
  }

  readLink(path: string): string {
    const { real, stats } = this.#files.existing(absolute(path), 'stay')
    if (!stats.isSymbolicLink()) throw new FileError('EINVAL')
    return readlinkSync(real)
  }

  /** Links may have any target: following one never leaves the scratch folder. */
  makeLink(path: string, target: string): void {
    if (target === '' || target.includes('\0')) throw new FileError('EINVAL')
    const place = this.#files.at(absolute(path), 'stay')
    if (place.stats !== undefined) throw new FileError('EEXIST')
    symlinkSync(target, place.real)
  }

  #makeRoom(): void {
    if (this.#opened.size >= mostOpen) throw new FileError('EMFILE')
  }

  #add(opened: Opened): Buffer {
    this.#last += 1
    this.#opened.set(this.#last, opened)
    const name = Buffer.alloc(4)
    name.writeUInt32BE(this.#last)
    return name
  }

  #get<Kind extends Opened['kind']>(kind: Kind, handle: Buffer): Extract<Opened, { kind: Kind }> {
    const opened = this.#opened.get(numberOf(handle))
    if (opened?.kind !== kind) throw new FileError('EBADF')
    return opened as Extract<Opened, { kind: Kind }>
  }
}

function numberOf(handle: Buffer): number {
  return handle.length === 4 ? handle.readUInt32BE() : 0
}

function absolute(path: string): string {
  return path.startsWith('/') ? path : `${home}/${path}`
}

/** The operating system's flags for those of SFTP; a link at the end is never followed. */
function openFlags(mode: number): number {
  const reads = Boolean(mode & OPEN_MODE.READ)
  const writes = Boolean(mode & (OPEN_MODE.WRITE | OPEN_MODE.APPEND))
  let flags = writes ? (reads ? constants.O_RDWR : constants.O_WRONLY) : constants.O_RDONLY
  if (mode & OPEN_MODE.APPEND) flags |= constants.O_APPEND
  if (mode & OPEN_MODE.CREAT) flags |= constants.O_CREAT
  if (mode & OPEN_MODE.TRUNC) flags |= constants.O_TRUNC
  if (mode & OPEN_MODE.EXCL) flags |= constants.O_EXCL
  return flags | (constants.O_NOFOLLOW ?? 0)
}
