import { placeOf } from '../../core/app/problems.ts'
import type { OpenLog } from './log.ts'

/** Writes down where an error that nobody caught came from, before it ends the process as it would anyway. */
export function sayLastWords(log: OpenLog): void {
  process.on('uncaughtExceptionMonitor', (error, origin) => log.lastLine(`${origin}: ${placeOf(error)}`))
}
