import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { systemClock } from '#platform/clock-and-random.ts'
import { systemSyncedFolders } from '#platform/synced-folders.ts'
import type { Connection } from '#ssh/connection/connection.ts'
import { type SyncDown, syncDown } from '#ssh/sync/down.ts'
import type { Version } from '#ssh/sync/plan.ts'
import { type SyncUp, syncUp } from '#ssh/sync/up.ts'
import { openPlace } from '../files/place.ts'

/** Seconds since 1970, old enough not to count as just changed. */
const longAgo = 1_700_000_000

/** Writes files by path, with their modification time set to `at`. */
export function write(folder: string, files: Readonly<Record<string, string | Buffer>>, at = longAgo): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
    utimesSync(join(folder, path), at, at)
  }
}

/** A local folder and one on a real sshd, with syncs in both directions. */
export async function openSync(config: readonly string[] = []) {
  const { sshd, there, connect } = await openPlace(config)
  const here = mkdtempSync(join(tmpdir(), 'berth-project-'))
  onTestFinished(() => rmSync(here, { recursive: true, force: true, maxRetries: 20 }))
  const remote = join(there, 'project')
  const { connection } = await connect()
  const folder = systemSyncedFolders.at(here)
  const common = {
    folder,
    remote,
    clock: systemClock,
    signal: new AbortController().signal,
  }
  const synced = new Map<string, Version>()
  return {
    sshd,
    here,
    remote,
    folder,
    connect,
    synced,
    up: (more: Partial<SyncUp> = {}, over: Connection = connection) =>
      syncUp(over, { ...common, confirmed: [], downloaded: new Map(), modes: true, ...more }),
    down: (more: Partial<SyncDown> = {}, over: Connection = connection) =>
      syncDown(over, {
        ...common,
        paths: ['.'],
        system: 'linux',
        from: 'instance 4711',
        synced,
        ...more,
      }),
  }
}
