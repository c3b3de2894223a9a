import { placeOf } from '#core/app/problems.ts'
import type { OpenLog } from './log.ts'

/** Logs where an uncaught error came from, before it ends the process. */
export function sayLastWords(log: OpenLog): void {
  process.on('uncaughtExceptionMonitor', (error, origin) => log.lastLine(`${origin}: ${placeOf(error)}`))
}
