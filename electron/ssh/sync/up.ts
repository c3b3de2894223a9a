import type { SyncedFolder } from '#platform/folders.ts'
import type { Clock } from '#platform/platform.ts'
import type { SyncProgress, SyncResult } from '#shared/instance/sync.ts'
import type { Connection } from '../connection/connection.ts'
import { listRemote, type RemoteListing } from './listing.ts'
import { changedFiles, planUp, type UpPlan, type Version } from './plan.ts'
import { type LocalFile, readTree, secretsAmong, stagingName } from './scan.ts'
import { diskFull, needsOtherTar } from './sync-problems.ts'

export interface SyncUp {
  folder: SyncedFolder
  /** The folder on the instance, created if it is missing. */
  remote: string
  /** Paths of files that look like secrets, which the user agreed to send. */
  confirmed: readonly string[]
  /** Sends every file, whatever ignore rules say and whether it looks like a secret. */
  all?: boolean
  /** The versions of files that were downloaded into the folder, by path. */
  downloaded: ReadonlyMap<string, Version>
  /** Files that are sent whatever ignore rules say, where they are there. */
  always?: readonly string[]
  /** Whether a file is a downloaded result, which is not sent. */
  isResult?: (file: LocalFile) => boolean
  /** Whether local files have an executable bit; on Windows they do not. */
  modes: boolean
  /** Called where something of another kind is in the way there: removes what was sent before and is no longer here. */
  removeGone?: (present: Present) => Promise<void>
  clock: Clock
  signal: AbortSignal
  onProgress?: (progress: SyncProgress) => void
}

/** What of the folder is there now, sent or not. `present`: files, and links with their targets in place of size and time. */
export interface Present {
  present: readonly ({ path: string; executable?: boolean; target?: string } & Version)[]
  folders: readonly string[]
}
export type SentFolder = SyncResult & Present

/**
 * Sends a folder's changed files. They are put in place together and whole; if the sync breaks off, each file is either
 * the old or the new one, and the next sync resumes. Throws `no_such_folder`, `ignore_file`, `too_many_files`,
 * `too_deep`, `in_the_way`, `disk_full`, `sync_refused`, `sync_failed`, `no_tar`, `no_posix_shell`,
 * `changed_meanwhile`, `ssh_timeout`, `ssh_closed`, or the signal's reason.
 */
export async function syncUp(connection: Connection, request: SyncUp): Promise<SentFolder> {
  const { folder, remote, confirmed, all = false, isResult, clock, signal, onProgress } = request
  const tops = (await folder.list('')).map(({ name }) => name)
  const list = () => listRemote(connection, { remote, paths: [stagingName, ...tops], make: true, clock })
  const [tree, first] = await Promise.all([
    readTree(folder, { signal, secrets: false, ruled: !all, isResult }),
    list(),
  ])
  let listing = first
  signal.throwIfAborted()
  tree.files.push(...(await filesBeyond(tree.files, request)))
  // Only what would be sent is looked into: reading every file again takes longer than sending a change.
  const unconfirmed = all
    ? []
    : changedFiles(tree.files, listing.items, request).filter(({ path }) => !confirmed.includes(path))
  const secrets = await secretsAmong(folder, unconfirmed, signal)
  const files = tree.files.filter(file => !secrets.has(file))
  const here = {
    folders: tree.folders,
    present: [...files, ...tree.links.map(({ path, target }) => ({ path, target, size: 0, modified: 0 }))],
  }
  if (request.removeGone && isOfOtherKind(here, listing.items)) {
    await request.removeGone(here)
    listing = await list()
    signal.throwIfAborted()
  }
  const plan = planUp({ ...tree, files }, listing.items, request)
  const skipped = [...tree.skipped]
  const progress = {
    total: plan.bytes,
    done: 0,
    files: plan.files.length + plan.links.length,
    filesDone: 0,
  }
  const onSent = (bytes: number, files: number) => {
    progress.done += bytes
    progress.filesDone += files
    onProgress?.({ ...progress })
  }
  if (isNeeded(plan)) {
    refuseWithoutRoom(plan, listing, remote)
    if (listing.tar !== 'gnu' && listing.tar !== 'bsd') refuseLongNames(plan)
    const { send } = await import('./send.ts')
    skipped.push(...(await send(connection, plan, { folder, remote, clock, signal, onSent })))
  }
  return {
    files: progress.filesDone,
    bytes: progress.done,
    unchanged: plan.unchanged,
    skipped,
    ...here,
  }
}

/** Those files that are always sent, and are not among the others. */
async function filesBeyond(
  others: readonly LocalFile[],
  { always = [], folder, signal }: SyncUp,
): Promise<LocalFile[]> {
  const known = new Set(others.map(({ path }) => path))
  const files: LocalFile[] = []
  for (const path of always) {
    signal.throwIfAborted()
    const entry = known.has(path) ? undefined : await folder.stat(path)
    if (entry?.kind !== 'file') continue
    const { size, modified, executable } = entry
    files.push({ path, size, modified, executable })
  }
  return files
}

/** Whether a folder is there in place of a file or link, or one of these in place of a folder. */
function isOfOtherKind({ present, folders }: Present, listed: RemoteListing['items']): boolean {
  const isFolder = (path: string) => listed.get(path)?.kind === 'folder'
  return (
    present.some(({ path }) => isFolder(path)) || folders.some(path => listed.has(path) && !isFolder(path))
  )
}

function isNeeded({ files, links, folders, gathered }: UpPlan): boolean {
  return gathered || files.length + links.length + folders.length > 0
}

/** Checks the free space before anything is sent; other programs may still use it up meanwhile. */
function refuseWithoutRoom({ bytes }: UpPlan, { free }: RemoteListing, remote: string): void {
  if (free !== undefined && bytes > free) throw diskFull(remote, { bytes, free })
}

/** Refuses names that need an extension of the archive format, which an unknown `tar` may not read. */
function refuseLongNames({ files, links, folders }: UpPlan): void {
  const paths = [...files.map(({ path }) => path), ...links.flatMap(({ path, target }) => [path, target])]
  const long = [...paths, ...folders].find(path => path.length > 98 || !/^[ -~]*$/.test(path))
  if (long !== undefined) throw needsOtherTar(long)
}
