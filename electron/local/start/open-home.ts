import type { Files } from '../../ports/files.ts'
import { openFiles } from '../files.ts'
import { sayLastWords } from '../log/last-words.ts'
import { type OpenLog, openLog } from '../log/log.ts'
import type { Endings } from './endings.ts'
import { lockFolder } from './lock.ts'

/** Opens Berth's folder for this process alone, with its log. Throws an AlreadyRunningError. */
export async function openHome(home: string, endings: Endings): Promise<{ files: Files; log: OpenLog }> {
  const files = await openFiles(home)
  endings.add(await lockFolder(files.path('lock'), 3_000))
  const log = await openLog(files.path('logs/berth.log'))
  endings.add(log.close)
  sayLastWords(log)
  return { files, log }
}
