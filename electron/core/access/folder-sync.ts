import { normalize } from 'node:path/posix'
import * as v from 'valibot'
import { type Document, type DocumentPlace, openDocument } from '#core/storage/json-file.ts'
import type { Clock, Files, Platform } from '#platform/platform.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import type { Downloaded, FolderScan, SyncProgress } from '#shared/instance/sync.ts'
import { BerthError, type Problem } from '#shared/problem.ts'
import type { Connection } from '#ssh/connection/connection.ts'
import type { SharedConnection } from '#ssh/connection/sharing.ts'
import { syncDown } from '#ssh/sync/down.ts'
import { asOnMachine, newestOf } from '#ssh/sync/newest.ts'
import { isSameVersion, originalPath, type Version } from '#ssh/sync/plan.ts'
import { readTree, scanOf } from '#ssh/sync/scan.ts'
import { type SentFolder, type SyncUp, syncUp } from '#ssh/sync/up.ts'
import { createFirstMinutes } from '#ssh/sync/whole.ts'
import { createSpeed } from './file-transfer.ts'
import { overLosses } from './retry-on-disconnect.ts'

export type FolderSync = ReturnType<typeof createFolderSync>

interface SyncWanted {
  /** The local folder. */
  folder: string
  /** The folder on the instance. */
  remote: string
  signal: AbortSignal
  onProgress?: (progress: SyncProgress) => void
  /** Called when the connection is lost and is being made again. */
  waiting?: (why: Problem) => void
  /** Milliseconds without a connection after which it throws why; else it waits as long as that takes. */
  mostApart?: number
}

interface SendWanted extends SyncWanted {
  /** Those of the scan's `secrets` that are sent nevertheless. */
  confirmed?: readonly string[]
  /** Sends files that were downloaded, whatever the rules say. */
  all?: boolean
  /**
   * Paths below which downloaded files stay here while they are unchanged, but for those of the run or job `own`, whose newest
   * versions are sent, also where git ignores them.
   */
  results?: readonly string[]
  own?: string
  removeGone?: SyncUp['removeGone']
}

interface DownloadWanted extends SyncWanted {
  /** The paths below the remote folder to fetch; `.` is all of it. */
  paths: readonly string[]
  /** Whether it is the last download, which waits a moment for files that were just changed, and looks again after. */
  last?: boolean
  /** The run or job that the files are for. */
  by: string
  /** Another name for the only path here, a single name. */
  as?: string
}

interface SyncContext {
  /** A lease of the instance's connection. */
  connect(instance: InstanceView): Promise<SharedConnection>
  platform: Pick<Platform, 'clock' | 'os' | 'syncedFolders'>
  files: Files
  /** The account's folder in `files`. */
  folder: string
  onBroken: DocumentPlace['onBroken']
}

/** Fetched files by local folder and path: size in bytes, time of the last change in epoch seconds, and `by`. */
const Fetched = v.record(v.string(), v.record(v.string(), v.tuple([v.number(), v.number(), v.string()])))
type Fetched = v.InferOutput<typeof Fetched>

/** Milliseconds between two writes of which files arrived. */
const keepEvery = 1000

/**
 * Keeps folders of this computer and of an account's instances in step. Transfers continue after a lost connection and
 * can be repeated at any time: each file is the old or the new one, and unchanged files are not sent again. Paths on
 * this computer are absolute, those on instances begin with `/`.
 */
export function createFolderSync(context: SyncContext) {
  const { platform } = context
  const { clock, os, syncedFolders } = platform
  const inTurn = oneAtATime()
  const isInFirstMinute = createFirstMinutes(clock)
  let opened: Promise<Document<Fetched>> | undefined
  const memory = () => {
    opened ??= openDocument(context, 'fetched-files', Fetched, {})
    return opened
  }

  /** Runs a sync over the instance's connection, and repeats it after losses while it makes progress. */
  function runSync<Result>(
    instance: InstanceView,
    { signal, onProgress, waiting, mostApart, remote }: SyncWanted,
    sync: (
      connection: Connection,
      more: { signal: AbortSignal; onProgress: (progress: SyncProgress) => void },
    ) => Promise<Result>,
  ): Promise<Result> {
    let moved = 0
    const losses = {
      clock,
      connect: () => context.connect(instance),
      signal,
      waiting,
      ...(mostApart !== undefined && { mostApart }),
      isLoss: isBrokenOff,
      moved: () => moved,
    }
    return inTurn(`${instance.id} ${remote}`, signal, () =>
      overLosses(losses, (connection, ended) => {
        const before = moved
        const tell = throttled(clock, progress => {
          moved = Math.max(moved, before + progress.done)
          onProgress?.(progress)
        })
        return sync(connection, { signal: ended, onProgress: tell })
      }),
    )
  }

  return {
    /** Removes the earlier versions of downloaded files, which are no longer needed. */
    removeEarlier: (folder: string): Promise<void> => syncedFolders.at(folder).removeEarlier(),
    /** Lists the files that would be sent. Throws `no_such_folder`, `ignore_file`, `too_many_files` or `too_deep`. */
    async scan(
      folder: string,
      { signal, results = [] }: { signal?: AbortSignal; results?: readonly string[] } = {},
    ): Promise<FolderScan> {
      const here = syncedFolders.at(folder)
      const downloaded = versionsOf((await memory()).get()[folder])
      const isResult = resultsIn(results, downloaded)
      const tree = await readTree(here, { signal, isResult })
      // Those that git ignores weren't looked at.
      const seen = new Set([...tree.files.map(({ path }) => path), ...tree.results])
      for (const path of downloaded.keys()) {
        const there = seen.has(path) ? undefined : await here.stat(path)
        if (there?.kind === 'file' && isResult({ ...there, path })) tree.results.push(path)
      }
      return scanOf(tree)
    },
    /** Whether the newest version of each file that was downloaded with this `by` is still there as it came. */
    async hasAll(folder: string, by: string): Promise<boolean> {
      const { own } = partedBy(by, (await memory()).get()[folder])
      return (await newestOf(syncedFolders.at(folder), versionsOf(own))).isWhole
    },
    /**
     * Sends changed files and deletes nothing there. A downloaded file that was not changed here since replaces none, and one of
     * `own` goes in its newest version. Throws as `syncUp` and connecting do.
     */
    async up(instance: InstanceView, wanted: SendWanted): Promise<SentFolder> {
      const { results = [] } = wanted
      const fetched = (await memory()).get()[wanted.folder] ?? {}
      const { own, others } = partedBy(wanted.own, fetched)
      const here = syncedFolders.at(wanted.folder)
      const folder = asOnMachine(here, await newestOf(here, versionsOf(own)))
      return runSync(instance, wanted, (connection, more) =>
        syncUp(connection, {
          ...wanted,
          ...more,
          folder,
          always: [...new Set(Object.keys(own).map(originalPath))],
          confirmed: wanted.confirmed ?? [],
          downloaded: versionsOf(fetched),
          isResult: resultsIn(results, versionsOf(others)),
          modes: os !== 'win32',
          clock,
        }),
      )
    },
    /**
     * Fetches changed files and keeps local changes, and the earlier versions of those that are replaced. `filesInAll`:
     * all that were fetched with this `by`, each once. Throws as `syncDown` and connecting do.
     */
    async down(instance: InstanceView, wanted: DownloadWanted): Promise<Downloaded & { filesInAll: number }> {
      const document = await memory()
      const before = document.get()[wanted.folder] ?? {}
      const synced = versionsOf(before)
      const earlier = new Set(synced.values())
      const all = () =>
        Object.fromEntries(
          [...synced].map(([path, version]): [string, Fetched[string][string]] => {
            const by = earlier.has(version) ? before[path]?.[2] : undefined
            return [path, [version.size, version.modified, by ?? wanted.by]]
          }),
        )
      const keep = () => {
        const now = all()
        return document.record(folders => ({
          ...folders,
          [wanted.folder]: { ...folders[wanted.folder], ...now },
        }))
      }
      let filesKept = 0
      let cancelKeep: (() => void) | undefined
      /** Survives a kill, so files that had arrived still count as downloaded. */
      const keepSoon = ({ filesDone }: SyncProgress) => {
        if (filesDone === filesKept) return
        filesKept = filesDone
        cancelKeep ??= clock.after(keepEvery, () => {
          cancelKeep = undefined
          void keep()
        })
      }
      const onProgress = (progress: SyncProgress) => {
        keepSoon(progress)
        wanted.onProgress?.(progress)
      }
      try {
        const result = await runSync(instance, { ...wanted, onProgress }, (connection, more) =>
          syncDown(connection, {
            ...wanted,
            ...more,
            folder: syncedFolders.at(wanted.folder),
            system: os,
            from: `instance ${instance.id}`,
            // One that is lacking them for ever is no checkpoint's.
            mayWait: save => isInFirstMinute(`${instance.id} ${wanted.remote}/${save}`),
            synced,
            otherRun: path => {
              const [version, by] = [synced.get(path), before[path]?.[2]]
              return version !== undefined && earlier.has(version) && by !== wanted.by ? by : undefined
            },
            clock,
          }),
        )
        const filesInAll = Object.values(all()).filter(([, , by]) => by === wanted.by).length
        return { ...result, filesInAll }
      } finally {
        cancelKeep?.()
        await keep()
      }
    },
  }
}

/** The files that were downloaded for a run or job, and the others. */
function partedBy(of: string | undefined, fetched: Fetched[string] = {}) {
  const files = Object.entries(fetched)
  return {
    own: Object.fromEntries(files.filter(([, [, , by]]) => by === of)),
    others: Object.fromEntries(files.filter(([, [, , by]]) => by !== of)),
  }
}

function versionsOf(fetched: Fetched[string] = {}): Map<string, Version> {
  return new Map(Object.entries(fetched).map(([path, [size, modified]]) => [path, { size, modified }]))
}

/** Whether a file is below one of these paths, and still as it was downloaded. */
function resultsIn(paths: readonly string[], downloaded: ReadonlyMap<string, Version>) {
  const roots = paths.map(path => normalize(path).replace(/\/$/, ''))
  return ({ path, size, modified }: { path: string } & Version) =>
    roots.some(root => root === '.' || path === root || path.startsWith(`${root}/`)) &&
    isSameVersion({ size, modified }, downloaded.get(path))
}

/** After a lost connection, remains of the last try on the instance may make the next one fail. */
function isBrokenOff(error: unknown, again: boolean): boolean {
  if (!(error instanceof BerthError)) return false
  const { code } = error.problem
  return code === 'ssh_closed' || (code === 'sync_failed' && again)
}

/** Adds the speed and the seconds left. */
function throttled(clock: Clock, tell: (progress: SyncProgress) => void): (progress: SyncProgress) => void {
  const speed = createSpeed(clock)
  speed.restart(0)
  return progress => {
    const now = speed.at(progress.done)
    const left = progress.total - progress.done
    tell(now ? { ...progress, speed: now, secondsLeft: left / now } : progress)
  }
}

/** One sync at a time per folder of an instance. */
function oneAtATime() {
  const last = new Map<string, Promise<unknown>>()
  return async <Result>(place: string, signal: AbortSignal, work: () => Promise<Result>): Promise<Result> => {
    const before = last.get(place) ?? Promise.resolve()
    const mine = before.then(() => {
      signal.throwIfAborted()
      return work()
    })
    const settled = mine.catch(() => undefined)
    last.set(place, settled)
    try {
      return await mine
    } finally {
      if (last.get(place) === settled) last.delete(place)
    }
  }
}
