import { mkdir, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import type { Files } from '#ports/files.ts'
import { openFiles } from '../files.ts'
import { sayLastWords } from '../log/last-words.ts'
import { type OpenLog, openLog } from '../log/log.ts'
import { lockFolder } from './lock.ts'
import type { Shutdown } from './shutdown.ts'

/** Bytes free on the disk below which it is full: saving a file takes room for its copy. */
const leastSpace = 1024 * 1024

/** Opens Berth's folder for this process alone, with its log. Throws an AlreadyRunningError. */
export async function openHome(home: string, shutdown: Shutdown): Promise<{ files: Files; log: OpenLog }> {
  await mkdir(home, { recursive: true, mode: 0o700 })
  // Locked first: opening the files removes half-written ones, which another Berth may be writing just now.
  shutdown.add(await lockFolder(join(home, 'lock'), 3_000))
  const files = await openFiles(home)
  const log = await openLog(files.path('logs/berth.log'))
  shutdown.add(log.close)
  sayLastWords(log)
  const { bavail, bsize } = await statfs(home)
  if (bavail * bsize < leastSpace)
    process.stderr.write(`The disk with ${home} is full, so Berth can’t save its files.\n`)
  return { files, log }
}
