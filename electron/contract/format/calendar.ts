/** Days and months by this machine's calendar. */

import { dateFormatter } from './formatters.ts'

const format = (options: Intl.DateTimeFormatOptions) => {
  const formatted = dateFormatter(options)
  return (date: Date) => formatted(date).replaceAll(',', '')
}

/** "21 Nov". */
export const monthDay = format({ day: 'numeric', month: 'short' })
/** "Nov". */
export const monthName = format({ month: 'short' })
/** "November". */
export const monthInFull = format({ month: 'long' })
/** "November 2026". */
export const monthAndYear = format({ month: 'long', year: 'numeric' })

const short = format({ weekday: 'short', day: 'numeric', month: 'short' })
const long = format({ weekday: 'long', day: 'numeric', month: 'long' })

/** "Sat 21 Nov", and of another year than `now` "Sun 3 Jan 2027". */
export function weekdayAndDay(date: Date, now: Date): string {
  return withYear(short(date), date, now)
}

/** A day as a heading: "Today", "Yesterday", "Thursday 19 November", "Sunday 28 December 2025". */
export function dayTitle(date: Date, now: Date): string {
  if (isoDay(date) === isoDay(now)) return 'Today'
  const yesterday = new Date(now.getFullYear(), now.getMonth(), now.getDate() - 1)
  return isoDay(date) === isoDay(yesterday) ? 'Yesterday' : withYear(long(date), date, now)
}

function withYear(day: string, date: Date, now: Date): string {
  return date.getFullYear() === now.getFullYear() ? day : `${day} ${date.getFullYear()}`
}

/** "2026-11-21", which also sorts. */
export function isoDay(date: Date): string {
  return [date.getFullYear(), date.getMonth() + 1, date.getDate()]
    .map(part => String(part).padStart(2, '0'))
    .join('-')
}
