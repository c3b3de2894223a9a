import { posix } from 'node:path'
import type { LocalEntry, OpenFile, SyncedFolder } from '#platform/folders.ts'
import type { Clock } from '#platform/platform.ts'
import type { Downloaded, SyncProgress } from '#shared/instance/sync.ts'
import { withoutEnd } from '#shared/text.ts'
import type { Connection } from '../connection/connection.ts'
import type { NamesOf } from '../files/transfer/local-names.ts'
import type { WantedFile } from './fetch.ts'
import { listedFolderOf, listRemote, type RemoteItem, type RemoteListing } from './listing.ts'
import {
  besideName,
  fateOf,
  isSameVersion,
  linkedPath,
  type Offered,
  offeredFiles,
  repositoriesIn,
  type Version,
} from './plan.ts'
import {
  createSamples,
  isTemporary,
  restSeconds,
  type Standing,
  unfinishedFiles,
  unsureSeconds,
} from './whole.ts'

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
  /** The other run or job that downloaded a file here last. */
  otherRun?: (path: string) => string | undefined
  /** Whether a save of which parts seem to be missing, by its name, may wait for them yet; for ever without it. */
  mayWait?: (save: string) => boolean
  clock: Clock
  signal: AbortSignal
  /**
   * Whether it is the last download, which waits a moment for files that were just changed, and looks again after. Others
   * leave those that are still being written for the next time.
   */
  last?: boolean
  onProgress?: (progress: SyncProgress) => void
}

/**
 * Downloads files. A changed local file is not replaced: the remote one is saved next to it. A whole file is replaced only
 * by one that was left alone for some seconds, or that continues it, and is kept as its earlier version. If the sync breaks
 * off, each file is the old or the new one, and the next sync resumes. Throws `no_such_folder`, `disk_full_here`,
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
  const samples = createSamples()
  /** Whether a file is left for the next time without those beside it, unless it was left alone. */
  const isLeft = (path: string) => !down.last && isTemporary(path)
  let listing = await list()
  samples.add(listing)
  if (down.last && justChanged(listing).length > 0) {
    listing = await list(restSeconds.closed + 1)
    samples.add(listing)
  }
  let choice = await choose()
  while (!down.last && choice.waits && samples.seconds() < patience) {
    listing = await list(1)
    samples.add(listing)
    choice = await choose()
  }
  const { files, skipped, wanted, held, heldFolders } = choice

  const progress = {
    total: wanted.reduce((sum, { item }) => sum + item.size, 0),
    done: 0,
    files: wanted.length,
    filesDone: 0,
  }
  const beside: { path: string; as: string }[] = []
  const fetching = {
    ...down,
    tar: listing.tar,
    now: listing.now,
    freeName,
    onBytes(bytes: number) {
      progress.done += bytes
      onProgress?.({ ...progress })
    },
    onFile({ path }: WantedFile, as: string, version: Version) {
      synced.set(as, version)
      if (as !== localPath(path)) beside.push({ path, as })
      progress.filesDone++
      onProgress?.({ ...progress })
    },
  }
  for (const round of inRounds(wanted, down.last === true)) await fetchRound(round)
  for (const path of choice.folders)
    if (!isUnsure(listing, path) && !(await choice.inTheWay(path))) await folder.makeFolder(localPath(path))
  for (const { path, why } of skipped) if (why === 'link') await followLink(path)
  return {
    files: progress.filesDone,
    bytes: progress.done,
    unchanged:
      files.length -
      wanted.length -
      choice.held.size -
      skipped.filter(({ why }) => why === 'in_the_way').length,
    skipped,
    beside,
    missing: missingOf(paths, listing.items),
    unsettled: [
      ...new Set([
        ...[...held].filter(path => !isLeft(path)),
        ...(down.last ? [...justChanged(listing), ...differences(listing, await list())] : []),
      ]),
    ],
  }

  /**
   * The files to fetch, and those that wait since they are still being written: unless it is the last download, with them
   * all that is new in their folders, which may belong to one checkpoint with them.
   */
  async function choose() {
    const isInTheWay = waysIn(folder)
    const inTheWay = (path: string) => isInTheWay(localPath(path))
    const has = async (path: string) =>
      !(await inTheWay(path)) && (await folder.stat(localPath(path))) !== undefined
    const repositories = await repositoriesIn(listing.items, system, has)
    const offers = offeredFiles(listing.items, system, path => repositories.has(path))
    const { folders, skipped } = offers
    const files = offers.files.filter(({ path }) => !isLeft(path) || samples.standing(path) === 'whole')
    const chosen: WantedFile[] = []
    const unfinished = down.last ? new Map<string, string>() : unfinishedFiles(listing)
    const mayWait = new Set([...new Set(unfinished.values())].filter(save => down.mayWait?.(save) !== false))
    const [held, heldFolders] = [new Set<string>(), new Set<string>()]
    let waits = false
    for (const offered of files) {
      signal.throwIfAborted()
      if (await inTheWay(offered.path)) {
        skipped.push({ path: offered.path, why: 'in_the_way' })
        continue
      }
      const target = await targetOf(offered)
      if (!target) continue
      const { path, item } = offered
      const placed = placing(item, target.here, samples.standing(path))
      if (placed) chosen.push({ ...offered, ...target, placed })
      else held.add(path)
      if (placed || down.last) continue
      waits = true
      if (!samples.isStatus(path)) heldFolders.add(listedFolderOf(path))
    }
    const isHeld = ({ path, placed }: WantedFile) =>
      placed === 'unchanged' &&
      (heldFolders.has(listedFolderOf(path)) || mayWait.has(unfinished.get(path) ?? ''))
    const wanted = chosen.filter(one => !isHeld(one))
    for (const one of chosen) if (isHeld(one)) held.add(one.path)
    return { files, folders, skipped, wanted, held, heldFolders, waits, inTheWay }
  }

  /** How a file takes its place; undefined where it must not yet. */
  function placing(
    item: RemoteItem,
    here: LocalEntry | undefined,
    standing: Standing,
  ): WantedFile['placed'] | undefined {
    if (standing === 'whole') return 'unchanged'
    if (here) return item.size > here.size ? 'longer' : undefined
    return standing === 'log' || down.last ? 'any' : undefined
  }

  /** Fetches some files, and places those that did not change meanwhile. */
  async function fetchRound(round: readonly WantedFile[]): Promise<void> {
    const { fetchFiles, place, discardAll } = await import('./fetch.ts')
    const { arrived, changed, missed } = await fetchFiles(connection, round, fetching)
    try {
      skipped.push(...missed.flatMap(path => (isLeft(path) ? [] : { path, why: 'changed' as const })))
      changed.push(...(await changedSince(arrived.map(({ wanted: one }) => one))))
      for (const { path, placed } of changed) {
        held.add(path)
        if (placed === 'unchanged' && !down.last && !isLeft(path)) heldFolders.add(listedFolderOf(path))
      }
      for (let next = arrived[0]; next; next = arrived[0]) {
        const { path } = next.wanted
        if (held.has(path) || heldFolders.has(listedFolderOf(path))) {
          held.add(path)
          await next.file.discard()
        } else await place(next, fetching)
        arrived.shift()
      }
    } finally {
      await discardAll(arrived)
    }
  }

  /** Those of the files that are no longer as they were listed. */
  async function changedSince(arrived: readonly WantedFile[]): Promise<WantedFile[]> {
    const changed: WantedFile[] = []
    for (let at = 0; at < arrived.length; at += listedAtOnce) {
      const some = arrived.slice(at, at + listedAtOnce)
      const asked = { remote: down.remote, paths: some.map(({ path }) => path), links: true, clock }
      const { items } = await listRemote(connection, asked)
      signal.throwIfAborted()
      changed.push(...some.filter(({ path, item }) => !isSameItem(item, items.get(path))))
    }
    return changed
  }

  /**
   * Gives a link's path the content of the downloaded file that it leads to, or makes the link to a folder, where nothing
   * of the user's is there: a command may ask for it by that name.
   */
  async function followLink(path: string): Promise<void> {
    const target = linkedPath(path, listing.items, down.remote)
    const item = listing.items.get(target ?? '')
    if (target === undefined || item === undefined || (await choice.inTheWay(path))) return
    const as = localPath(path)
    if (item.kind === 'folder') return linkFolder(as, target)
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

  /**
   * A link to a folder stays one, since a command replaces it by another: it's made once all of that folder is here, and not to one
   * that it lies in.
   */
  async function linkFolder(as: string, target: string): Promise<void> {
    const goal = localPath(target)
    const isHeld = [...choice.held].some(path => path.startsWith(`${target}/`))
    if (isHeld || as.startsWith(`${goal}/`) || (await folder.stat(goal))?.kind !== 'folder') return
    await folder.makeLink(as, posix.relative(posix.dirname(as), goal))
  }

  /** Whether an empty folder may be that of a checkpoint which is being written: here it would be the newest one. */
  function isUnsure({ items, now }: RemoteListing, path: string): boolean {
    return !down.last && Math.abs(now - (items.get(path)?.modified ?? 0)) < unsureSeconds
  }

  function localPath(path: string): string {
    const [first = '', ...rest] = path.split('/')
    return down.as !== undefined && first === paths[0] ? [down.as, ...rest].join('/') : path
  }

  /** Where a file goes, and what is there; undefined where it need not be fetched. */
  async function targetOf({
    path,
    item,
  }: Offered): Promise<{ as: string; here: LocalEntry | undefined } | undefined> {
    const as = localPath(path)
    const here = await folder.stat(as)
    const fate = fateOf(item, here, synced.get(as))
    if (fate === 'keep') return undefined
    return fate === 'fetch' ? { as, here } : freeName(path, item)
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
    await copy.complete(version.modified, source.executable)
    await copy.finish(as)
    return true
  } catch {
    await copy.discard().catch(() => undefined)
    signal.throwIfAborted()
    return false
  }
}

/** Seconds for which a checkpoint waits until files are whole that are being written. */
const patience = 10
/** How many paths are listed again at a time. */
const listedAtOnce = 400
/** The most files and bytes that wait for their place together, apart from those of one folder. */
const round = { files: 4000, bytes: 256 * 1024 * 1024 }

/** Parts that are fetched one after the other. Unless it is the last download, files of one folder stay together. */
function inRounds(wanted: readonly WantedFile[], isLast: boolean): WantedFile[][] {
  const groups = new Map<string, WantedFile[]>()
  for (const one of wanted) {
    const key = isLast ? one.path : listedFolderOf(one.path)
    const group = groups.get(key)
    if (group) group.push(one)
    else groups.set(key, [one])
  }
  const rounds: WantedFile[][] = []
  let bytes = 0
  for (const group of groups.values()) {
    const last = rounds.at(-1)
    const size = group.reduce((sum, { item }) => sum + item.size, 0)
    const isFull = bytes + size > round.bytes || (last?.length ?? 0) + group.length > round.files
    if (last && !isFull) last.push(...group)
    else rounds.push(group)
    bytes = last && !isFull ? bytes + size : size
  }
  return rounds
}

/** The files that were changed within the last seconds before the listing, by the instance's clock. */
function justChanged({ items, now }: RemoteListing): string[] {
  return [...items].flatMap(([path, { kind, changed, modified }]) =>
    kind === 'file' && Math.abs(now - (changed ?? modified)) < restSeconds.closed ? path : [],
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
