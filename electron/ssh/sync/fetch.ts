import { type Entry, extract as tarExtract } from 'tar-stream'
import type { Skipped } from '#contract/instance/sync.ts'
import { BerthError } from '#contract/problem.ts'
import type { LocalEntry, SyncedFolder } from '#machine/folders.ts'
import type { Clock } from '#machine/machine.ts'
import type { Connection } from '../connection/connection.ts'
import { listedFolderOf, type RemoteListing } from './listing.ts'
import type { Offered, Version } from './plan.ts'
import { openScript, type ScriptStream } from './script-stream.ts'
import { giveScript } from './scripts.ts'
import { wrongArchive } from './sync-problems.ts'

/** A file to download, its local path, and the current content of that path. */
export interface Wanted extends Offered {
  as: string
  here: LocalEntry | undefined
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
  onBytes(bytes: number): void
  onFile(wanted: Wanted, as: string, version: Version): void
}

/** Seconds after a change in which a second change may not show in the file's time. */
const mayChangeFor = 2
/** By how much a file may exceed its listed size when it arrives, since it may still be written to. */
const growth = { times: 2, bytes: 1024 * 1024 }

/** Fetches files as one archive. Returns the files that did not arrive. */
export async function fetchFiles(
  connection: Connection,
  wanted: readonly Wanted[],
  fetching: Fetching,
): Promise<Skipped[]> {
  const { remote, tar, clock, signal } = fetching
  const byPath = new Map(wanted.map(each => [each.path, each]))
  const stream = await openScript(connection, clock, { remote, tar }, giveScript)
  const leave = () => stream.close()
  signal.addEventListener('abort', leave, { once: true })
  try {
    signal.throwIfAborted()
    const asking = ask(stream, [...byPath.keys()])
    // A failure shows in the files that do not arrive.
    asking.catch(() => undefined)
    await take(stream, byPath, fetching)
  } catch (error) {
    signal.throwIfAborted()
    throw error
  } finally {
    signal.removeEventListener('abort', leave)
    stream.close()
  }
  return [...byPath.keys()].map(path => ({ path, why: 'changed' }))
}

async function ask(stream: ScriptStream, paths: readonly string[]): Promise<void> {
  for (let at = 0; at < paths.length; at += 500) {
    const some = paths.slice(at, at + 500).map(path => `./${path}\0`)
    await stream.write(Buffer.from(some.join('')))
  }
  stream.end()
}

/** Receives each requested file once, and removes it from `waiting`. Other entries are skipped. */
async function take(stream: ScriptStream, waiting: Map<string, Wanted>, fetching: Fetching): Promise<void> {
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

async function receive(entry: Entry, wanted: Wanted, fetching: Fetching): Promise<void> {
  const { folder, now, signal, onBytes, onFile } = fetching
  const { size = 0, mtime } = entry.header
  const file = await folder.receive(wanted.as)
  try {
    for await (const chunk of entry) {
      signal.throwIfAborted()
      await file.write(chunk)
      onBytes(chunk.length)
    }
    const seconds = Math.floor((mtime?.getTime() ?? 0) / 1000)
    // As in `send.ts`: a file that may have changed again gets a time one second older, so it is fetched again.
    const version = { size, modified: Math.abs(now - seconds) > mayChangeFor ? seconds : seconds - 1 }
    const as = await placeFor(wanted, version, fetching)
    if (as === undefined) return await file.discard()
    await file.finish(as, version.modified)
    onFile(wanted, as, version)
  } catch (error) {
    await file.discard().catch(() => undefined)
    throw error
  }
}

/** The file's own path; another one if the local file was changed meanwhile. */
async function placeFor(
  { path, as, here }: Wanted,
  version: Version,
  { folder, freeName }: Fetching,
): Promise<string | undefined> {
  const now = await folder.stat(as)
  const same = now?.kind === here?.kind && now?.size === here?.size && now?.modified === here?.modified
  return same ? as : (await freeName(path, version))?.as
}
