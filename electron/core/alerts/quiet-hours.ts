import type { Settings } from '#contract/app/settings.ts'
import type { Notice } from '#machine/machine.ts'

type QuietHours = Settings['quietHours']

/** Whether a minute of the user's day (0 to 1439) is in the quiet hours, which may span midnight. */
export function isQuiet({ on, from, to }: QuietHours, minute: number): boolean {
  if (!on) return false
  const [begin, end] = [minuteOf(from), minuteOf(to)]
  return begin <= end ? minute >= begin && minute < end : minute >= begin || minute < end
}

/** The minute of the user's day at epoch milliseconds of this computer. */
export function minuteOfDay(at: number): number {
  const moment = new Date(at)
  return moment.getHours() * 60 + moment.getMinutes()
}

/** Whether a notice has to wait for the end of the quiet hours. */
export function mustWait(urgency: Notice['urgency'], hours: QuietHours, minute: number): boolean {
  return isQuiet(hours, minute) && !(urgency === 'critical' && hours.critical)
}

/** The number of titles that a summary names. */
const most = 4

/** A notice that sums up those that waited; undefined when none did. */
export function summary(titles: readonly string[]): Pick<Notice, 'title' | 'body'> | undefined {
  if (titles.length === 0) return undefined
  const more = titles.length - most
  const named = titles.slice(0, most).map(title => `${title}.`)
  return {
    title:
      titles.length === 1 ? 'One alert during quiet hours' : `${titles.length} alerts during quiet hours`,
    body: [...named, ...(more > 0 ? [`And ${more} more.`] : [])].join(' '),
  }
}

function minuteOf(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number)
  return hours * 60 + minutes
}
