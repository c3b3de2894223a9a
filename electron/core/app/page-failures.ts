import type { Clock, Log } from '#machine/machine.ts'
import type { Activity } from './activity.ts'

/** Failures recorded per hour; more are dropped. */
const mostPerHour = 10
const hour = 3_600_000

/** Records a failure of the page, in Activity for the user and in the log for maintainers. */
export type NotePageFailure = (text: string, detail: string) => void

export function pageFailures(activity: Activity, clock: Clock, log: Log): NotePageFailure {
  let noted: number[] = []
  return (text, detail) => {
    const now = clock.monotonic()
    noted = noted.filter(at => now - at < hour)
    if (noted.length >= mostPerHour) return
    noted.push(now)
    log.line(`${text}: ${detail}`)
    activity.add({ kind: 'error', text, detail: log.mask(detail).slice(0, 300) })
  }
}
