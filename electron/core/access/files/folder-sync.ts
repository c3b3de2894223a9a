import * as v from 'valibot'
import type { InstanceView } from '../../../contract/instance/instance.ts'
import type { BroughtHome, FolderScan, SyncProgress, SyncResult } from '../../../contract/instance/sync.ts'
import { BerthError } from '../../../contract/problem.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Files } from '../../../ports/files.ts'
import type { Machine } from '../../../ports/machine.ts'
import type { Connection } from '../../../ssh/connection/connection.ts'
import type { Lease } from '../../../ssh/connection/sharing.ts'
import { syncDown } from '../../../ssh/sync/down.ts'
import type { Version } from '../../../ssh/sync/plan-down.ts'
import { readTree, scanOf } from '../../../ssh/sync/scan.ts'
import { syncUp } from '../../../ssh/sync/up.ts'
import { type Document, openDocument } from '../../storage/json-file.ts'
import { overLosses } from './over-losses.ts'
import { createSpeed } from './speed.ts'

/**
 * Folders of this machine and of an account's instances, kept in step. What it moves goes on by itself after a lost
 * connection, and may be asked for again after anything: each file is then the old or the new one, and what is there
 * already is not moved twice. Paths of this machine are absolute, those of instances begin with `/`.
 */
export interface FolderSync {
  /** What of a folder would be sent. Throws `no_such_folder`, `ignore_file`, `too_many_files` or `too_deep`. */
  scan(folder: string, options?: ScanOptions): Promise<FolderScan>
  /** Sends what changed; what is on the instance alone stays. Throws as `syncUp` does, and as getting in does. */
  up(instance: InstanceView, wanted: SendWanted): Promise<SyncResult>
  /** Brings home what changed; what was changed here stays. Throws as `syncDown` does, and as getting in does. */
  down(instance: InstanceView, wanted: BringWanted): Promise<BroughtHome>
}

interface ScanOptions {
  /** Further lines as in an ignore file at the top of the folder. */
  ignore?: readonly string[]
  signal?: AbortSignal
}

interface SyncWanted {
  /** Here. */
  folder: string
  /** On the instance. */
  remote: string
  signal: AbortSignal
  onProgress?: (progress: SyncProgress) => void
}

interface SendWanted extends SyncWanted {
  ignore?: readonly string[]
  /** Those of `secrets` of the scan that are sent all the same. */
  confirmed?: readonly string[]
}

interface BringWanted extends SyncWanted {
  /** What of the remote folder is brought, as paths below it; `.` is all of it. */
  paths: readonly string[]
}

interface SyncContext {
  /** A share in the instance's connection. */
  connect(instance: InstanceView): Promise<Lease>
  machine: Pick<Machine, 'clock' | 'platform' | 'syncedFolders'>
  files: Files
  /** The account's folder in them. */
  folder: string
  onBroken(setAside: string): void
}

/** By folder and path: what was brought home, in bytes and epoch seconds. */
const Brought = v.record(v.string(), v.record(v.string(), v.tuple([v.number(), v.number()])))
type Brought = v.InferOutput<typeof Brought>

export function createFolderSync(context: SyncContext): FolderSync {
  const { machine } = context
  const { clock, platform, syncedFolders } = machine
  const inTurn = oneAtATime()
  let opened: Promise<Document<Brought>> | undefined
  const memory = () => {
    opened ??= openDocument({
      files: context.files,
      clock,
      name: `${context.folder}/brought.json`,
      schema: Brought,
      empty: {},
      onBroken: context.onBroken,
    })
    return opened
  }

  /** Over the instance's connection, for as long as it gets further. */
  function over<Result>(
    instance: InstanceView,
    { signal, onProgress, remote }: SyncWanted,
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
    scan: async (folder, options = {}) => scanOf(await readTree(syncedFolders.at(folder), options)),
    up: (instance, wanted) =>
      over(instance, wanted, (connection, more) =>
        syncUp(connection, {
          ...wanted,
          ...more,
          folder: syncedFolders.at(wanted.folder),
          confirmed: wanted.confirmed ?? [],
          modes: platform !== 'win32',
          clock,
        }),
      ),
    async down(instance, wanted) {
      const document = await memory()
      const before = document.get()[wanted.folder] ?? {}
      const synced = new Map<string, Version>(
        Object.entries(before).map(([path, [size, modified]]) => [path, { size, modified }]),
      )
      try {
        return await over(instance, wanted, (connection, more) =>
          syncDown(connection, {
            ...wanted,
            ...more,
            folder: syncedFolders.at(wanted.folder),
            system: platform,
            from: `instance ${instance.id}`,
            synced,
            clock,
          }),
        )
      } finally {
        const now = [...synced].map(([path, { size, modified }]): [string, [number, number]] => [
          path,
          [size, modified],
        ])
        await document.record(all => ({
          ...all,
          [wanted.folder]: { ...all[wanted.folder], ...Object.fromEntries(now) },
        }))
      }
    },
  }
}

/** After a loss, what still went on at the other end may have been in the way of the next try. */
function isBrokenOff(error: unknown, again: boolean): boolean {
  if (!(error instanceof BerthError)) return false
  const { code } = error.problem
  return code === 'ssh_closed' || (code === 'sync_failed' && again)
}

/** Adds how fast it goes and how long that takes. */
function throttled(clock: Clock, tell: (progress: SyncProgress) => void): (progress: SyncProgress) => void {
  const speed = createSpeed(clock)
  speed.restart(0)
  return progress => {
    const now = speed.at(progress.done)
    const left = progress.total - progress.done
    tell(now ? { ...progress, speed: now, secondsLeft: left / now } : progress)
  }
}

/** Work on one folder of an instance waits for what is under way there. */
function oneAtATime() {
  const last = new Map<string, Promise<unknown>>()
  return async <Result>(place: string, signal: AbortSignal, work: () => Promise<Result>): Promise<Result> => {
    const before = last.get(place) ?? Promise.resolve()
    const mine = before.then(() => {
      signal.throwIfAborted()
      return work()
    })
    const over = mine.catch(() => undefined)
    last.set(place, over)
    try {
      return await mine
    } finally {
      if (last.get(place) === over) last.delete(place)
    }
  }
}
