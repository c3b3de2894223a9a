import type { WatchdogRequest } from '#contract/automation/watchdog.ts'
import { BerthError } from '#contract/problem.ts'

/**
 * Throws `invalid_argument` for a time before `now`, epoch seconds of the account's time: a watchdog would act at once,
 * or treat it as done and watch for nothing.
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
