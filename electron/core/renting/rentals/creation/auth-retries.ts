import { pauseAfterRefusal } from '#core/instances/polling/recheck.ts'
import type { Clock } from '#ports/clock.ts'

/**
 * Work that stopped because the key was refused. The refusal may be temporary, so the work continues once a poll shows
 * that the key works. If the poll is allowed and the work is not, retries become rarer.
 */
export interface AuthRetries<Work> {
  refused(id: string, work: Work): void
  /** The work has succeeded or ended. */
  over(id: string): void
  /** The work that may be retried now, after a successful poll. */
  due(): [id: string, work: Work][]
}

/** How many refusals are retried at the very next successful poll. */
const passing = 2

export function createAuthRetries<Work>(clock: Clock): AuthRetries<Work> {
  const retries = new Map<string, { work: Work; refusals: number; notBefore: number }>()
  return {
    refused(id, work) {
      const refusals = (retries.get(id)?.refusals ?? 0) + 1
      const pause = refusals <= passing ? 0 : pauseAfterRefusal(refusals, 0.5)
      retries.set(id, { work, refusals, notBefore: clock.monotonic() + pause })
    },
    over: id => void retries.delete(id),
    due: () =>
      [...retries].flatMap(([id, { work, notBefore }]) =>
        clock.monotonic() >= notBefore ? [[id, work] as [string, Work]] : [],
      ),
  }
}
