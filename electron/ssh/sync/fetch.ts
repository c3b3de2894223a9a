import { type Entry, extract as tarExtract } from 'tar-stream'
import type { LocalEntry, OpenFile, Receiving, SyncedFolder } from '#platform/folders.ts'
import type { Clock } from '#platform/platform.ts'
import { BerthError } from '#shared/problem.ts'
import type { Connection } from '../connection/connection.ts'
import { listedFolderOf, type RemoteListing } from './listing.ts'
import type { Offered, Version } from './plan.ts'
import { openScript, type ScriptStream } from './script-stream.ts'
import { giveScript } from './scripts.ts'
import { wrongArchive } from './sync-problems.ts'

/** A file to download, its local path, and the current content of that path. */
export interface WantedFile extends Offered {
  as: string
  here: LocalEntry | undefined
  /**
   * What decides whether it takes its place. unchanged: on the instance, nothing of it changed until all had arrived.
   * longer: it begins with the whole content of the local file. any: nothing.
   */
  placed: 'unchanged' | 'longer' | 'any'
}

/** A file that arrived whole, and is not in its place yet. */
export interface Arrived {
  wanted: WantedFile
  file: Receiving
  version: Version
}

interface Fetching {
  remote: string
  folder: SyncedFolder
  tar: RemoteListing['tar']
  clock: Clock
  /** The instance's time when it listed the files, epoch seconds. */
  now: number
  signal: AbortSignal
  /** Another path for a file whose own was changed meanwhile; undefined if it need not be saved. */
  freeName(path: string, item: Version): Promise<{ as: string } | undefined>
  /** The other run or job that downloaded the file at a path here last. */
  otherRun?: (path: string) => string | undefined
  onBytes(bytes: number): void
  onFile(wanted: WantedFile, as: string, version: Version): void
}

export interface Fetched {
  /** Files that wait for their place. */
  arrived: Arrived[]
  /** Those that arrived otherwise than wanted, since they are written to. */
  changed: WantedFile[]
  /** The paths of those that did not arrive. */
  missed: string[]
}

/** Seconds after a change in which a second change may not show in the file's time. */
const mayChangeFor = 2
/** By how much a file may exceed its listed size when it arrives, since it may still be written to. */
const growth = { times: 2, bytes: 1024 * 1024 }

/** Fetches files as one archive. Those that wait for their place are the caller's to place, or to discard. */
export async function fetchFiles(
  connection: Connection,
  wanted: readonly WantedFile[],
  fetching: Fetching,
): Promise<Fetched> {
  const { remote, tar, clock, signal } = fetching
  const byPath = new Map(wanted.map(each => [each.path, each]))
  const stream = await openScript(connection, clock, { remote, tar }, giveScript)
  const leave = () => stream.close()
  signal.addEventListener('abort', leave, { once: true })
  const [arrived, changed]: [Arrived[], WantedFile[]] = [[], []]
  try {
    signal.throwIfAborted()
    const asking = ask(stream, [...byPath.keys()])
    // A failure shows in the files that do not arrive.
    asking.catch(() => undefined)
    await take(stream, byPath, { ...fetching, arrived, changed })
  } catch (error) {
    await discardAll(arrived)
    signal.throwIfAborted()
    throw error
  } finally {
    signal.removeEventListener('abort', leave)
    stream.close()
  }
  return { arrived, changed, missed: [...byPath.keys()] }
}

export async function discardAll(arrived: readonly Arrived[]): Promise<void> {
  for (const { file } of arrived) await file.discard().catch(() => undefined)
}

/** Puts a file that arrived in its place, or in another if the local file was changed meanwhile. */
export async function place({ wanted, file, version }: Arrived, fetching: Fetching): Promise<void> {
  const as = await placeFor(wanted, version, fetching)
  if (as === undefined) return await file.discard()
  const replaces = as === wanted.as && wanted.placed === 'unchanged' && wanted.here?.kind === 'file'
  const run = fetching.otherRun?.(as)
  await file.finish(as, replaces ? (run === undefined ? { of: 'itself' } : { of: 'run', run }) : undefined)
  fetching.onFile(wanted, as, version)
}

async function ask(stream: ScriptStream, paths: readonly string[]): Promise<void> {
  for (let at = 0; at < paths.length; at += 500) {
    const some = paths.slice(at, at + 500).map(path => `./${path}\0`)
    await stream.write(Buffer.from(some.join('')))
  }
  stream.end()
}

/** Receives each requested file once, and removes it from `waiting`. Other entries are skipped. */
async function take(
  stream: ScriptStream,
  waiting: Map<string, WantedFile>,
  fetching: Fetching & Omit<Fetched, 'missed'>,
): Promise<void> {
  const archive = tarExtract()
  let broken: unknown
  archive.on('error', error => {
    broken ??= error
  })
  stream.output.on('data', stream.heard)
  stream.output.pipe(archive, { end: false })
  // Of a script that broke off, the archive has no end that could be judged.
  stream.ended.then(
    () => archive.end(),
    error => {
      broken ??= error
      archive.destroy(error)
    },
  )
  let room = [...waiting.values()].reduce((sum, { item }) => sum + mostOf(item), 0)
  try {
    for await (const entry of archive) {
      const { name, size = 0, type } = entry.header
      room -= size
      if (room < 0) throw wrongArchive(fetching.remote)
      const path = name.replace(/^\.\//, '')
      const wanted = waiting.get(path)
      const isWanted = wanted !== undefined && type === 'file' && size <= mostOf(wanted.item)
      if (!isWanted || !(await fetching.folder.makeFolder(listedFolderOf(wanted.as)))) await passOver(entry)
      else {
        await receive(entry, wanted, fetching)
        waiting.delete(path)
      }
    }
  } catch (error) {
    if (broken === undefined || error instanceof BerthError) throw error
    throw broken instanceof BerthError ? broken : wrongArchive(fetching.remote)
  }
}

function mostOf({ size }: Version): number {
  return size * growth.times + growth.bytes
}

async function passOver(entry: Entry): Promise<void> {
  for await (const _ of entry) {
    // Discarded: it was not requested, or something is in the way of its folder by now.
  }
}

async function receive(
  entry: Entry,
  wanted: WantedFile,
  fetching: Fetching & Omit<Fetched, 'missed'>,
): Promise<void> {
  const { folder, now, signal, onBytes } = fetching
  const { size = 0, mtime } = entry.header
  const file = await folder.receive(wanted.as)
  const isLonger = wanted.placed === 'longer' ? beginsWith(await folder.open(wanted.as)) : undefined
  try {
    for await (const chunk of entry) {
      signal.throwIfAborted()
      await isLonger?.compare(chunk)
      await file.write(chunk)
      onBytes(chunk.length)
    }
    const seconds = Math.floor((mtime?.getTime() ?? 0) / 1000)
    // As in `send.ts`: a file that may have changed again gets a time one second older, so it is fetched again.
    const version = { size, modified: Math.abs(now - seconds) > mayChangeFor ? seconds : seconds - 1 }
    const isOther = wanted.placed === 'unchanged' && size !== wanted.item.size
    if (isOther || isLonger?.isSo() === false) {
      fetching.changed.push(wanted)
      return await file.discard()
    }
    await file.complete(version.modified, wanted.item.executable)
    if (wanted.placed === 'unchanged') fetching.arrived.push({ wanted, file, version })
    else await place({ wanted, file, version }, fetching)
  } catch (error) {
    await file.discard().catch(() => undefined)
    throw error
  } finally {
    await isLonger?.close()
  }
}

/** Compares bytes that arrive in order with the beginning of a local file. */
function beginsWith(local: OpenFile | undefined) {
  let at = 0
  let isSame = local !== undefined
  return {
    async compare(chunk: Uint8Array): Promise<void> {
      const length = Math.min(chunk.length, (local?.size ?? 0) - at)
      const buffer = Buffer.alloc(Math.max(0, length))
      for (let read = 0; isSame && local && read < length; ) {
        const bytes = await local.read(at + read, buffer.subarray(read))
        if (bytes === 0) isSame = false
        read += bytes
      }
      isSame &&= buffer.equals(chunk.subarray(0, buffer.length))
      at += chunk.length
    },
    isSo: () => isSame && at >= (local?.size ?? 0),
    close: async () => local?.close(),
  }
}

/** The file's own path; another one if the local file was changed meanwhile. */
async function placeFor(
  { path, as, here }: WantedFile,
  version: Version,
  { folder, freeName }: Fetching,
): Promise<string | undefined> {
  const now = await folder.stat(as)
  const same = now?.kind === here?.kind && now?.size === here?.size && now?.modified === here?.modified
  return same ? as : (await freeName(path, version))?.as
}
