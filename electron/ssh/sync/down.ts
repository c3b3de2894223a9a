import type { Downloaded, SyncProgress } from '#contract/instance/sync.ts'
import { withoutEnd } from '#contract/text.ts'
import type { LocalEntry, OpenFile, SyncedFolder } from '#machine/folders.ts'
import type { Clock } from '#machine/machine.ts'
import type { Connection } from '../connection/connection.ts'
import type { NamesOf } from '../files/transfer/local-names.ts'
import type { Wanted } from './fetch.ts'
import { listedFolderOf, listRemote, type RemoteItem, type RemoteListing } from './listing.ts'
import {
  besideName,
  fateOf,
  isSameVersion,
  linkedFile,
  type Offered,
  offeredFiles,
  repositoriesIn,
  type Version,
} from './plan.ts'

export interface SyncDown {
  /** The folder on the instance, and the paths below it to fetch; `.` for all. */
  remote: string
  paths: readonly string[]
  /** The local folder, which gets the files at the same paths. */
  folder: SyncedFolder
  /** Another local name for the only path, a single name. */
  as?: string
  system: NamesOf
  /** The source, for names such as `model (from instance 4711).pt`. */
  from: string
  /** The versions fetched last, by path; updated while files arrive. */
  synced: Map<string, Version>
  clock: Clock
  signal: AbortSignal
  /** Whether it is the last download, which waits a moment for files that were just changed, and looks again after. */
  last?: boolean
  onProgress?: (progress: SyncProgress) => void
}

/**
 * Downloads files. A changed local file is not replaced: the remote one is saved next to it. If the sync breaks off,
 * each file is the old or the new one, and the next sync resumes. Throws `no_such_folder`, `disk_full_here`,
 * `sync_refused`, `sync_failed`, `no_tar`, `no_posix_shell`, `too_many_files`, `ssh_timeout`, `ssh_closed`, or the
 * signal's reason.
 */
export async function syncDown(connection: Connection, down: SyncDown): Promise<Downloaded> {
  const { paths, folder, system, from, synced, clock, signal, onProgress } = down
  // Throws if the local folder is gone. It is not created again, since nobody would look for it there.
  await folder.list('')
  const list = async (after?: number) => {
    const listing = await listRemote(connection, { remote: down.remote, paths, links: true, after, clock })
    signal.throwIfAborted()
    return listing
  }
  let listing = await list()
  if (down.last && justChanged(listing).length > 0) listing = await list(settled + 1)
  const isInTheWay = waysIn(folder)
  const inTheWay = (path: string) => isInTheWay(localPath(path))
  const has = async (path: string) =>
    !(await inTheWay(path)) && (await folder.stat(localPath(path))) !== undefined
  const repositories = await repositoriesIn(listing.items, system, has)
  const { files, skipped } = offeredFiles(listing.items, system, path => repositories.has(path))
  const wanted: Wanted[] = []
  for (const offered of files) {
    signal.throwIfAborted()
    if (await inTheWay(offered.path)) skipped.push({ path: offered.path, why: 'in_the_way' })
    else wanted.push(...(await wantedOf(offered)))
  }

  const progress = {
    total: wanted.reduce((sum, { item }) => sum + item.size, 0),
    done: 0,
    files: wanted.length,
    filesDone: 0,
  }
  const beside: { path: string; as: string }[] = []
  if (wanted.length > 0) {
    const { fetchFiles } = await import('./fetch.ts')
    const missed = await fetchFiles(connection, wanted, {
      ...down,
      tar: listing.tar,
      now: listing.now,
      freeName,
      onBytes(bytes) {
        progress.done += bytes
        onProgress?.({ ...progress })
      },
      onFile({ path }, as, version) {
        synced.set(as, version)
        if (as !== localPath(path)) beside.push({ path, as })
        progress.filesDone++
        onProgress?.({ ...progress })
      },
    })
    skipped.push(...missed)
  }
  for (const { path, why } of skipped) if (why === 'link') await copyLinked(path)
  return {
    files: progress.filesDone,
    bytes: progress.done,
    unchanged: files.length - wanted.length - skipped.filter(({ why }) => why === 'in_the_way').length,
    skipped,
    beside,
    missing: missingOf(paths, listing.items),
    unsettled: down.last
      ? [...new Set([...justChanged(listing), ...differences(listing, await list())])]
      : [],
  }

  /**
   * Gives a link's path the content of the downloaded file that it leads to, where nothing of the user's is there: a
   * command may ask for it by that name.
   */
  async function copyLinked(path: string): Promise<void> {
    const target = linkedFile(path, listing.items, down.remote)
    const item = listing.items.get(target ?? '')
    if (target === undefined || item === undefined || (await inTheWay(path))) return
    const as = localPath(path)
    const [here, source] = await Promise.all([folder.stat(as), folder.open(localPath(target))])
    if (!source) return
    const version = { size: source.size, modified: Math.floor(source.modified) }
    try {
      const isDownloaded =
        isSameVersion(version, item) || isSameVersion(version, synced.get(localPath(target)))
      if (!isDownloaded || fateOf(version, here, synced.get(as)) !== 'fetch') return
      if (await copyHere(source, { folder, as, version, signal })) synced.set(as, version)
    } finally {
      await source.close()
    }
  }

  function localPath(path: string): string {
    const [first = '', ...rest] = path.split('/')
    return down.as !== undefined && first === paths[0] ? [down.as, ...rest].join('/') : path
  }

  async function wantedOf({ path, item }: Offered): Promise<Wanted[]> {
    const as = localPath(path)
    const here = await folder.stat(as)
    const fate = fateOf(item, here, synced.get(as))
    if (fate === 'keep') return []
    if (fate === 'fetch') return [{ path, item, as, here }]
    const free = await freeName(path, item)
    return free === undefined ? [] : [{ path, item, ...free }]
  }

  /** A free path next to the local file; undefined if that version already exists. */
  async function freeName(
    path: string,
    item: Version,
  ): Promise<{ as: string; here: LocalEntry | undefined } | undefined> {
    const own = localPath(path)
    const at = own.lastIndexOf('/') + 1
    for (let number = 1; ; number++) {
      const as = own.slice(0, at) + besideName(own.slice(at), from, number)
      const here = await folder.stat(as)
      const fate = fateOf(item, here, synced.get(as))
      if (fate === 'keep') return undefined
      if (fate === 'fetch') return { as, here }
    }
  }
}

/** Copies a file of this computer. False if there is no room: its content is here under the other name. */
async function copyHere(
  source: OpenFile,
  { folder, as, version, signal }: Pick<SyncDown, 'folder' | 'signal'> & { as: string; version: Version },
): Promise<boolean> {
  if (!(await folder.makeFolder(listedFolderOf(as)))) return false
  const copy = await folder.receive(as)
  const buffer = Buffer.alloc(1024 * 1024)
  try {
    for (let at = 0; at < version.size; ) {
      signal.throwIfAborted()
      const bytes = await source.read(at, buffer)
      if (bytes === 0) throw new Error('the file became shorter')
      await copy.write(buffer.subarray(0, bytes))
      at += bytes
    }
    await copy.finish(as, version.modified)
    return true
  } catch {
    await copy.discard().catch(() => undefined)
    signal.throwIfAborted()
    return false
  }
}

/** Whole seconds without a change after which a file counts as complete; more than `mayChangeFor` of `fetch.ts`. */
const settled = 3

/** The files that were changed within the last seconds before the listing, by the instance's clock. */
function justChanged({ items, now }: RemoteListing): string[] {
  return [...items].flatMap(([path, { kind, changed, modified }]) =>
    kind === 'file' && Math.abs(now - (changed ?? modified)) < settled ? path : [],
  )
}

/** The files that are new in the second listing, or have another size or time there. */
function differences(before: RemoteListing, after: RemoteListing): string[] {
  return [...after.items].flatMap(([path, item]) =>
    item.kind === 'file' && !isSameItem(item, before.items.get(path)) ? path : [],
  )
}

function isSameItem(one: RemoteItem, other: RemoteItem | undefined): boolean {
  return (
    one.kind === other?.kind &&
    one.size === other.size &&
    one.modified === other.modified &&
    one.changed === other.changed
  )
}

/** The paths at which no file with content is listed. A link into another listed folder counts as one. */
function missingOf(paths: readonly string[], items: RemoteListing['items']): string[] {
  const full = [...items].flatMap(([path, { kind, size, inside }]) =>
    inside || (kind === 'file' && size > 0) ? path : [],
  )
  return paths.filter(asked => {
    const path = withoutEnd(asked, '/')
    return path !== '.' && !full.some(one => one === path || one.startsWith(`${path}/`))
  })
}

/** Whether a link or a file is at the place of a folder of the path. Each folder is looked up once. */
function waysIn(folder: SyncedFolder): (path: string) => Promise<boolean> {
  const known = new Map<string, boolean>([['', false]])
  return async function inTheWay(path: string): Promise<boolean> {
    const above = listedFolderOf(path)
    const before = known.get(above)
    if (before !== undefined) return before
    const entry = await folder.stat(above)
    const result = (await inTheWay(above)) || (entry !== undefined && entry.kind !== 'folder')
    known.set(above, result)
    return result
  }
}
