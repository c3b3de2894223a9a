import type { EventEmitter } from 'node:events'
import type { Attributes, FileEntry, SFTPWrapper } from 'ssh2'
import ssh2 from 'ssh2'
import type { Clock } from '#platform/platform.ts'
import { harmless } from '#shared/instance/file-names.ts'
import { isUnreadable } from '#shared/instance/files.ts'
import { BerthError } from '#shared/problem.ts'
import type { Connection } from '../connection/connection.ts'
import { isShellReplaced, shellReplaced } from '../connection/ssh-problems.ts'
import { beginsWithin, lastLine, outputOf } from '../exec.ts'
import { fileRefused, noSftp, SftpLost, unreadableName } from './file-problems.ts'

const { OPEN_MODE } = ssh2.utils.sftp

/** An open file on an instance. */
export type Handle = Buffer

/** A file's attributes. `size` in bytes, `modified` in epoch seconds. */
export interface Stats {
  size: number
  modified: number
  /** Including the bits of the file type. */
  mode: number
  /** Undefined if the server did not send it. */
  owner?: Owner
}

/** The numeric ids of the user and the group on the instance. */
export interface Owner {
  user: number
  group: number
}

/** The entries of a folder, up to a limit. */
export interface FolderListing {
  entries: Pick<FileEntry, 'filename' | 'attrs'>[]
  /** Whether listing ended early: at the number asked for, at `listBounds`, or at too many empty answers. */
  more: boolean
  /** Number of entries left out since their names are longer than `listBounds.name`. */
  unnamed: number
}

/** Bytes per request, and the most requests in flight. */
export interface Pieces {
  piece: number
  depth: number
}

/**
 * SFTP version 3 on an instance. A refusal by the server is thrown as a BerthError; when the connection is lost, all
 * pending requests reject with SftpLost. Paths are sent as given, so callers check names from the instance.
 */
export interface Sftp {
  readonly reading: Pieces
  readonly writing: Pieces
  /** Whether the server is known to handle requests in order, as OpenSSH does. */
  readonly inOrder: boolean
  readonly lost: Promise<unknown>
  realPath(path: string): Promise<string>
  /** At most `most` entries, including `.` and `..`. */
  list(path: string, most: number): Promise<FolderListing>
  stat(path: string): Promise<Stats>
  linkStat(path: string): Promise<Stats>
  readLink(path: string): Promise<string>
  makeFolder(path: string): Promise<void>
  removeFolder(path: string): Promise<void>
  remove(path: string): Promise<void>
  /** SFTP's own rename; in version 3 the server refuses if `to` exists. */
  rename(from: string, to: string): Promise<void>
  /** Renames over an existing file: in one step if the server can, else after removing that file. */
  replace(from: string, to: string): Promise<void>
  setMode(path: string, mode: number): Promise<void>
  setOwner(path: string, owner: Owner): Promise<void>
  openRead(path: string): Promise<Handle>
  /** Creates a missing file; keeps the content of an existing one. */
  openWrite(path: string): Promise<Handle>
  statHandle(handle: Handle): Promise<Stats>
  cut(handle: Handle, size: number): Promise<void>
  /** Bytes read into the buffer; 0 at the end of the file. */
  read(handle: Handle, into: Buffer, at: number): Promise<number>
  write(handle: Handle, bytes: Buffer, at: number): Promise<void>
  close(handle: Handle): Promise<void>
  end(): void
}

/** All servers of version 3 accept the first piece size, OpenSSH the second too. A greater depth is not faster. */
const writing = { piece: 32_768, depth: 64 }
const largeWriting = { piece: 65_000, depth: 64 }
/** An answer of this size fits into one SSH packet; ssh2 copies larger ones, which costs a fifth more. */
const reading = { piece: 32_000, depth: 128 }

/** Limits of a listing: bytes per name, of which file systems permit 255, and characters in all. */
export const listBounds = { name: 1024, characters: 64 * 1024 * 1024 }

/** The most empty answers in a row. */
const mostEmpty = 8

/**
 * Opens SFTP on a connection. A server is given as long to begin as a command is. Throws `shell_replaced`, `no_sftp`,
 * `ssh_full`, `ssh_timeout`, or SftpLost.
 */
export async function openSftp(connection: Connection, clock: Clock): Promise<Sftp> {
  const { client, address, lost, answered } = connection
  const request = new Promise<SFTPWrapper>((resolve, reject) => {
    void lost.then(reject)
    dropGreetings(client, clock, line => shellReplaced(address, line, undefined))
    client.sftp((error, opened) => (error === undefined ? resolve(opened) : reject(error)))
  })
  try {
    return sftpOn(await answered(request, noSftp), lost)
  } catch (error) {
    const code = error instanceof BerthError ? error.problem.code : undefined
    // Either there is no such server, or another program took its place.
    if (code === 'no_sftp') await refuseReplacedShell(connection, clock)
    throw code === 'ssh_closed' ? new SftpLost() : error
  }
}

/** Throws `shell_replaced` for an instance whose shell runs no command. */
async function refuseReplacedShell(connection: Connection, clock: Clock): Promise<void> {
  await outputOf(connection, 'true', { clock, within: beginsWithin, most: 1 }).catch(error => {
    if (isShellReplaced(error)) throw error
  })
}

/** The start of a server's first packet after its length, and of the client's own, which a program may echo. */
const versionStart = Buffer.from([2, 0, 0, 0, 3])
const ownStart = Buffer.from([0, 0, 0, 5, 1, 0, 0, 0, 3])
/** The most bytes of a greeting, and of the first packet. */
const longest = { greeting: 16 * 1024 * 1024, packet: 256 * 1024 }
/** The most characters of a shell's last words. */
const longestWords = 1024
const prepared = new WeakSet<object>()

/**
 * Makes the client's SFTP channels drop what comes before the server's first packet: a server that the user's shell
 * starts has the greeting of the shell's start files before it. ssh2 hands a channel out only after that packet, so its
 * own list of channels is where a new one is found. One without that packet in time fails as `silent` says, which gets
 * the last line of the greeting.
 */
function dropGreetings(client: object, clock: Clock, silent: (line: string) => BerthError): void {
  const channels: unknown = '_chanMgr' in client ? client._chanMgr : undefined
  if (prepared.has(client) || !isChannelList(channels)) return
  prepared.add(client)
  const update = channels.update.bind(channels)
  channels.update = (id, channel) => {
    if (isNewSftp(channel)) dropGreeting(channel, clock, silent)
    update(id, channel)
  }
}

interface Taker extends EventEmitter {
  push(data: Buffer | null): unknown
  end(): void
}

function isChannelList(value: unknown): value is { update(id: number, channel: unknown): void } {
  return (
    typeof value === 'object' && value !== null && 'update' in value && typeof value.update === 'function'
  )
}

function isNewSftp(value: unknown): value is Taker {
  return (
    typeof value === 'object' &&
    value !== null &&
    '_version' in value &&
    value._version === -1 &&
    'push' in value &&
    'end' in value
  )
}

function dropGreeting(channel: Taker, clock: Clock, silent: (line: string) => BerthError): void {
  const push = channel.push.bind(channel)
  let greeting: Buffer = Buffer.alloc(0)
  const cancel = clock.after(beginsWithin, () => {
    // Listened to once the instance has accepted the request, and until it is answered.
    if (channel.listenerCount('error') === 0) return
    channel.emit('error', silent(lastLine(greeting)))
    channel.end()
  })
  channel.once('close', cancel)
  let pending: Buffer = Buffer.alloc(0)
  let dropped = 0
  channel.push = data => {
    if (data === null) return push(data)
    greeting = Buffer.concat([greeting, data]).subarray(-longestWords)
    pending = Buffer.concat([pending, data])
    const at = firstPacket(pending)
    if (at === undefined && dropped < longest.greeting) {
      dropped += data.length
      pending = pending.subarray(-ownStart.length)
      return undefined
    }
    cancel()
    channel.push = push
    return push(pending.subarray(at))
  }
}

/** Where the server's first packet, or an echo of the client's, begins. */
function firstPacket(bytes: Buffer): number | undefined {
  const echo = bytes.indexOf(ownStart)
  if (echo >= 0) return echo
  for (let at = bytes.indexOf(versionStart); at >= 0; at = bytes.indexOf(versionStart, at + 1)) {
    const length = at < 4 ? 0 : bytes.readUInt32BE(at - 4)
    if (length >= versionStart.length && length <= longest.packet) return at - 4
  }
  return undefined
}

function sftpOn(channel: SFTPWrapper, connectionLost: Promise<unknown>): Sftp {
  const waiting = new Set<(error: Error) => void>()
  let isLost = false
  const lost = new Promise<void>(resolve => {
    const end = () => {
      isLost = true
      resolve()
      for (const reject of waiting) reject(new SftpLost())
      waiting.clear()
    }
    // ssh2 leaves some requests unanswered for ever when a channel closes abruptly.
    channel.on('close', end)
    channel.on('end', end)
    channel.on('error', end)
    void connectionLost.then(end)
  })

  type Callback<T> = (error: Error | undefined | null, value: T) => void

  function raw<T>(begin: (callback: Callback<T>) => void): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (isLost) return reject(new SftpLost())
      waiting.add(reject)
      begin((error, value) => {
        waiting.delete(reject)
        if (error === undefined || error === null) resolve(value)
        else reject(isLost || error.message === 'No response from server' ? new SftpLost() : error)
      })
    })
  }

  /** Sends a request, and turns a refusal into a BerthError. */
  async function ask<T>(doing: string, begin: (callback: Callback<T>) => void): Promise<T> {
    try {
      return await raw(begin)
    } catch (error) {
      throw error instanceof SftpLost ? error : fileRefused(error, doing)
    }
  }

  function named<T>(verb: string, path: string, begin: (callback: Callback<T>) => void): Promise<T> {
    return isUnreadable(path) ? Promise.reject(unreadableName()) : ask(`${verb} ${harmless(path)}`, begin)
  }

  const canReplace = hasExtension(channel, 'posix-rename@openssh.com')
  const takesLarge = hasExtension(channel, 'limits@openssh.com') || isOpenSsh(channel)

  const sftp: Sftp = {
    reading,
    writing: takesLarge ? largeWriting : writing,
    inOrder: isOpenSsh(channel),
    lost,
    realPath: path => named('find', path, done => channel.realpath(path, done)),
    async list(path, most) {
      const folder = await named<Buffer>('list', path, done => channel.opendir(path, done))
      try {
        return await listed(most, () =>
          raw<FileEntry[] | undefined>(done =>
            channel.readdir(folder, (error, list) =>
              isEnd(error) ? done(undefined, undefined) : done(error, list),
            ),
          ),
        )
      } catch (error) {
        throw error instanceof SftpLost ? error : fileRefused(error, `list ${harmless(path)}`)
      } finally {
        await sftp.close(folder).catch(() => undefined)
      }
    },
    stat: path => named<Attributes>('look at', path, done => channel.stat(path, done)).then(statsOf),
    linkStat: path => named<Attributes>('look at', path, done => channel.lstat(path, done)).then(statsOf),
    readLink: path => named('follow', path, done => channel.readlink(path, done)),
    makeFolder: path => named('make the folder', path, done => channel.mkdir(path, asVoid(done))),
    removeFolder: path => named('delete', path, done => channel.rmdir(path, asVoid(done))),
    remove: path => named('delete', path, done => channel.unlink(path, asVoid(done))),
    rename: (from, to) =>
      isUnreadable(to)
        ? Promise.reject(unreadableName())
        : named('rename', from, done => channel.rename(from, to, asVoid(done))),
    async replace(from, to) {
      if (canReplace) return named('rename', from, done => channel.ext_openssh_rename(from, to, asVoid(done)))
      await sftp.remove(to).catch(error => {
        if (error instanceof SftpLost) throw error
        // The file did not exist, or could not be removed: then the rename below fails and says why.
      })
      return sftp.rename(from, to)
    },
    setMode: (path, mode) => named('set the mode of', path, done => channel.chmod(path, mode, asVoid(done))),
    setOwner: (path, { user, group }) =>
      named('set the owner of', path, done => channel.chown(path, user, group, asVoid(done))),
    openRead: path => named('read', path, done => channel.open(path, OPEN_MODE.READ, done)),
    openWrite: path =>
      named('write', path, done =>
        channel.open(path, OPEN_MODE.READ | OPEN_MODE.WRITE | OPEN_MODE.CREAT, { mode: 0o600 }, done),
      ),
    statHandle: handle =>
      ask<Attributes>('read the file’s details', done => channel.fstat(handle, done)).then(statsOf),
    cut: (handle, size) => ask('truncate the file', done => channel.fsetstat(handle, { size }, asVoid(done))),
    read: (handle, into, at) =>
      ask('read the file', done =>
        channel.read(handle, into, 0, into.length, at, (error, bytes) =>
          isEnd(error) ? done(undefined, 0) : done(error, bytes),
        ),
      ),
    write: (handle, bytes, at) =>
      ask('write the file', done => channel.write(handle, bytes, 0, bytes.length, at, asVoid(done))),
    close: handle => ask('close the file', done => channel.close(handle, asVoid(done))),
    end: () => channel.end(),
  }
  return sftp
}

/** Collects at most `most` entries from `next`, which gives undefined at the end. */
async function listed(most: number, next: () => Promise<FileEntry[] | undefined>): Promise<FolderListing> {
  const entries: FolderListing['entries'] = []
  let unnamed = 0
  let empty = 0
  let characters = 0
  while (entries.length + unnamed <= most && characters <= listBounds.characters) {
    const some = await next()
    if (some === undefined) return { entries, more: false, unnamed }
    // An empty folder may give an empty answer first; a faulty server could give such answers for ever.
    empty = some.length === 0 ? empty + 1 : 0
    if (empty > mostEmpty) return { entries, more: true, unnamed }
    for (const { filename, longname, attrs } of some) {
      characters += filename.length + longname.length
      if (Buffer.byteLength(filename) > listBounds.name) unnamed += 1
      else entries.push({ filename, attrs })
    }
  }
  return { entries: entries.slice(0, most), more: true, unnamed }
}

function statsOf({ size, mtime, mode, uid, gid }: Partial<Attributes>): Stats {
  const owner = uid === undefined || gid === undefined ? undefined : { user: uid, group: gid }
  return { size: Number(size ?? 0), modified: mtime ?? 0, mode: mode ?? 0, owner }
}

function asVoid(done: (error: Error | undefined | null, value: undefined) => void) {
  return (error?: Error | null) => done(error, undefined)
}

function isEnd(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === ssh2.utils.sftp.STATUS_CODE.EOF
}

/** ssh2 keeps the server's extensions in a private field only. */
function hasExtension(channel: SFTPWrapper, name: string): boolean {
  const known: unknown = '_extensions' in channel ? channel._extensions : undefined
  return typeof known === 'object' && known !== null && name in known
}

function isOpenSsh(channel: SFTPWrapper): boolean {
  return '_isOpenSSH' in channel && channel._isOpenSSH === true
}
