import type { BroughtHome, SyncProgress } from '../../contract/instance/sync.ts'
import { withoutEnd } from '../../contract/text.ts'
import type { Clock } from '../../ports/clock.ts'
import type { LocalEntry, SyncedFolder } from '../../ports/synced-folders.ts'
import type { Connection } from '../connection/connection.ts'
import type { NamesOf } from '../files/transfer/local-names.ts'
import type { Wanted } from './fetch.ts'
import { folderOf, listRemote, type RemoteListing } from './listing.ts'
import { besideName, fateOf, type Offered, offeredFiles, type Version } from './plan-down.ts'

export interface SyncDown {
  /** The folder on the instance, and the paths below it to fetch; `.` for all. */
  remote: string
  paths: readonly string[]
  /** The local folder, which gets the files at the same paths. */
  folder: SyncedFolder
  system: NamesOf
  /** The source, for names such as `model (from instance 4711).pt`. */
  from: string
  /** The versions fetched last, by path; updated while files arrive. */
  synced: Map<string, Version>
  clock: Clock
  signal: AbortSignal
  onProgress?: (progress: SyncProgress) => void
}

/**
 * Fetches files. A local file that was changed is not replaced: the remote one is saved beside it. If the sync breaks
 * off, each file is the old or the new one, and the next sync resumes. Throws `no_such_folder`, `disk_full_here`,
 * `sync_refused`, `sync_failed`, `no_tar`, `no_posix_shell`, `too_many_files`, `ssh_timeout`, `ssh_closed`, or the
 * signal's reason.
 */
export async function syncDown(connection: Connection, down: SyncDown): Promise<BroughtHome> {
  const { remote, paths, folder, system, from, synced, clock, signal, onProgress } = down
  // Throws if the local folder is gone. It is not created again, since nobody would look for it there.
  await folder.list('')
  const listing = await listRemote(connection, { remote, paths, make: false, clock })
  signal.throwIfAborted()
  const { files, skipped } = offeredFiles(listing.items, system)
  const wanted: Wanted[] = []
  const inTheWay = waysIn(folder)
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
        if (as !== path) beside.push({ path, as })
        progress.filesDone++
        onProgress?.({ ...progress })
      },
    })
    skipped.push(...missed)
  }
  return {
    files: progress.filesDone,
    bytes: progress.done,
    unchanged: files.length - wanted.length - skipped.filter(({ why }) => why === 'in_the_way').length,
    skipped,
    beside,
    missing: paths.filter(path => !isListed(withoutEnd(path, '/'), listing.items)),
  }

  async function wantedOf({ path, item }: Offered): Promise<Wanted[]> {
    const here = await folder.stat(path)
    const fate = fateOf(item, here, synced.get(path))
    if (fate === 'keep') return []
    if (fate === 'fetch') return [{ path, item, as: path, here }]
    const free = await freeName(path, item)
    return free === undefined ? [] : [{ path, item, ...free }]
  }

  /** A free path beside the local file; undefined if the version is there already. */
  async function freeName(
    path: string,
    item: Version,
  ): Promise<{ as: string; here: LocalEntry | undefined } | undefined> {
    const at = path.lastIndexOf('/') + 1
    for (let number = 1; ; number++) {
      const as = path.slice(0, at) + besideName(path.slice(at), from, number)
      const here = await folder.stat(as)
      const fate = fateOf(item, here, synced.get(as))
      if (fate === 'keep') return undefined
      if (fate === 'fetch') return { as, here }
    }
  }
}

function isListed(path: string, items: RemoteListing['items']): boolean {
  return path === '.' || items.has(path) || [...items.keys()].some(one => one.startsWith(`${path}/`))
}

/** Whether a link or a file is at the place of a folder of the path. Each folder is looked up once. */
function waysIn(folder: SyncedFolder): (path: string) => Promise<boolean> {
  const known = new Map<string, boolean>([['', false]])
  return async function inTheWay(path: string): Promise<boolean> {
    const above = folderOf(path)
    const before = known.get(above)
    if (before !== undefined) return before
    const entry = await folder.stat(above)
    const result = (await inTheWay(above)) || (entry !== undefined && entry.kind !== 'folder')
    known.set(above, result)
    return result
  }
}
