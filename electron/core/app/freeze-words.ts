import type { Freeze } from '#machine/machine.ts'
import { dateAndTime, duration } from '../../contract/format/time.ts'

/** What the user reads of a freeze. */
export function freezeWords({ at, seconds, restarted }: Freeze): { title: string; body: string } {
  const lasted = duration(seconds)
  return {
    title: restarted ? `Berth froze for ${lasted} and restarted` : `Berth froze for ${lasted}`,
    body: `From ${dateAndTime(at / 1000 - seconds)} on, no limit and no run could act. They act again now.`,
  }
}
