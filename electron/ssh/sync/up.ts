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
  /** Whether a file is a downloaded result, which is not sent. */
  isResult?: (file: LocalFile) => boolean
  /** Whether local files have an executable bit; on Windows they do not. */
  modes: boolean
  clock: Clock
  signal: AbortSignal
  onProgress?: (progress: SyncProgress) => void
}

/** What of the folder is there now, sent or not. `present`: files and links; links without size and time. */
export type SentFolder = SyncResult & {
  present: readonly ({ path: string } & Version)[]
  folders: readonly string[]
}

/**
 * Sends a folder's changed files. They are put in place together and whole; if the sync breaks off, each file is either
 * the old or the new one, and the next sync resumes. Throws `no_such_folder`, `ignore_file`, `too_many_files`,
 * `too_deep`, `in_the_way`, `disk_full`, `sync_refused`, `sync_failed`, `no_tar`, `no_posix_shell`,
 * `changed_meanwhile`, `ssh_timeout`, `ssh_closed`, or the signal's reason.
 */
export async function syncUp(connection: Connection, request: SyncUp): Promise<SentFolder> {
  const { folder, remote, confirmed, all = false, isResult, clock, signal, onProgress } = request
  const tops = (await folder.list('')).map(({ name }) => name)
  const [tree, listing] = await Promise.all([
    readTree(folder, { signal, secrets: false, ruled: !all, isResult }),
    listRemote(connection, { remote, paths: [stagingName, ...tops], make: true, clock }),
  ])
  signal.throwIfAborted()
  // Only what would be sent is looked into: reading every file again takes longer than sending a change.
  const unconfirmed = all
    ? []
    : changedFiles(tree.files, listing.items, request).filter(({ path }) => !confirmed.includes(path))
  const secrets = await secretsAmong(folder, unconfirmed, signal)
  const files = tree.files.filter(file => !secrets.has(file))
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
    folders: tree.folders,
    present: [...files, ...tree.links.map(({ path }) => ({ path, size: 0, modified: 0 }))],
  }
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
