import type { WatchdogRequest } from '../../../contract/automation/watchdog.ts'
import { BerthError } from '../../../contract/problem.ts'

/**
 * Throws `invalid_argument` for a time that has passed at `now`, epoch seconds of the account's time: a watchdog would
 * act on it at once, or take it for one that was served and watch for nothing.
 */
export function mustBeAhead({ at }: WatchdogRequest, now: number): void {
  if (at === undefined || at > now) return
  throw new BerthError({
    code: 'invalid_argument',
    message: 'That time has passed already.',
    advice: 'Give one that is still to come.',
    field: 'request.at',
  })
}
