import type { Files } from '../ports/files.ts'
import type { Endings } from './endings.ts'
import { openFiles } from './files.ts'
import { lockFolder } from './lock.ts'
import { type Log, openLog } from './log.ts'

/** Opens Berth's folder for this process alone, with its log. Throws an AlreadyRunningError. */
export async function openHome(home: string, endings: Endings): Promise<{ files: Files; log: Log }> {
  const files = await openFiles(home)
  endings.add(await lockFolder(files.path('lock'), 3_000))
  const log = await openLog(files.path('logs/berth.log'))
  endings.add(log.close)
  return { files, log }
}
