import type { Clock } from '../../../../ports/clock.ts'
import { pauseAfterRefusal } from '../../../instances/polling/recheck.ts'

/**
 * What a refusal of the key has brought to a halt. It may have been a moment's, so the work goes on once a poll shows
 * the key to be good; where that poll is allowed and the work is not, it is tried ever more rarely.
 */
export interface AuthRetries<Work> {
  refused(id: string, work: Work): void
  /** It went on, or came to its end. */
  over(id: string): void
  /** What may be tried now, after a good poll. */
  due(): [id: string, work: Work][]
}

/** How many refusals are tried again at the very next good poll. */
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
