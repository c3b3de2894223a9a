import { statfsSync } from 'node:fs'
import { release } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { placeOf } from '#core/bridge/problems.ts'
import { openFiles } from '../platform/files.ts'
import { type OpenLog, openLog } from '../platform/log.ts'
import type { Files } from '../platform/platform.ts'
import { homeError, lockFolder, makeHome } from './home.ts'
import type { Shutdown } from './shutdown.ts'

/** Bytes free on the disk below which it is full: saving a file takes room for its copy. */
const leastSpace = 1024 * 1024

/** Opens Berth's folder for this process alone, with its log. Throws an AlreadyRunningError, or a HomeError. */
export async function openHome(home: string, shutdown: Shutdown): Promise<{ files: Files; log: OpenLog }> {
  const { files, log } = await lockedHome(home, shutdown).catch(error => {
    throw homeError(home, error)
  })
  shutdown.add(log.close)
  sayLastWords(log)
  const { bavail, bsize } = statfsSync(home)
  if (bavail * bsize < leastSpace)
    process.stderr.write(`The disk with ${home} is full, so Berth can’t save its files.\n`)
  return { files, log }
}

async function lockedHome(home: string, shutdown: Shutdown) {
  makeHome(home)
  // Locked first: opening the files removes half-written ones, which another Berth may be writing just now.
  shutdown.add(await lockFolder(join(home, 'lock'), 3_000))
  const files = openFiles(home)
  return { files, log: openLog(files.path('logs/berth.log')) }
}

/**
 * One line with the versions of Electron and its parts, of Node and of the system, and whether pages run without
 * Chromium's sandbox.
 */
export function describeRuntime(isSandboxed = true): string {
  const { electron, chrome, node } = process.versions
  const shell = electron === undefined ? '' : `Electron ${electron}, Chromium ${chrome}, `
  return `${shell}Node ${node}; ${process.platform} ${release()} ${process.arch}${isSandboxed ? '' : '; no sandbox'}`
}

/** Keeps V8's young generation at 1 or 2 MB. A start would grow it to 32 MB, kept for days of idling. */
export function keepHeapSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
}

/** Logs where an uncaught error came from, before it ends the process. */
function sayLastWords(log: OpenLog): void {
  process.on('uncaughtExceptionMonitor', (error, origin) => log.lastLine(`${origin}: ${placeOf(error)}`))
}
