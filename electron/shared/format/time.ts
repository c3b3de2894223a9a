import { counted } from './size.ts'

const steps = [
  { name: 'd', seconds: 86_400 },
  { name: 'h', seconds: 3600 },
  { name: 'min', seconds: 60 },
] as const

/** A length of time in its two largest units: "17 h 45 min", "3 d 2 h", "40 s". */
export function duration(seconds: number): string {
  if (seconds >= 86_400 * 1000) return 'over 1,000 d'
  for (const [at, { name, seconds: size }] of steps.entries()) {
    if (seconds < size) continue
    const smaller = steps[at + 1]
    const rest = smaller ? Math.floor((seconds % size) / smaller.seconds) : 0
    return `${Math.floor(seconds / size)} ${name}${smaller && rest > 0 ? ` ${rest} ${smaller.name}` : ''}`
  }
  return `${Math.max(0, Math.floor(seconds))} s`
}

/** A coarse length of time that does not change every minute, rounded down: "3 d", "17 h", "25 min". */
export function roughDuration(seconds: number): string {
  if (seconds < 300) return 'under 5 min'
  const step = seconds < 3600 ? 300 : seconds < 86_400 ? 3600 : 86_400
  return duration(seconds - (seconds % step))
}

/** A length of time counting down, to the second: "14:05". */
export function countdown(seconds: number): string {
  const whole = Math.max(0, Math.ceil(seconds))
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`
}

/** An age in words: "8 seconds", "3 minutes", "2 days", "19 months", "3 years". */
export function age(seconds: number): string {
  if (seconds < 60) return counted(Math.max(0, Math.floor(seconds)), 'second')
  if (seconds < 3600) return counted(Math.floor(seconds / 60), 'minute')
  if (seconds < 86_400) return counted(Math.floor(seconds / 3600), 'hour')
  const days = Math.floor(seconds / 86_400)
  if (days < 61) return counted(days, 'day')
  if (days < 2 * 365.25) return counted(Math.floor(days / (365.25 / 12)), 'month')
  return counted(Math.floor(days / 365.25), 'year')
}

/** How long ago: "just now", "3 minutes ago", "2 days ago". */
export function ago(seconds: number): string {
  return seconds < 5 ? 'just now' : `${age(seconds)} ago`
}

/** The time of day: "14:02". Epoch seconds. */
export function timeOfDay(at: number): string {
  return clock(new Date(at * 1000))
}

/** Weekday and time, for texts that may still be on screen on another day: "Mon 14:02". Epoch seconds. */
export function weekdayAndTime(at: number): string {
  const date = new Date(at * 1000)
  return `${weekday(date).slice(0, 3)} ${clock(date)}`
}

/** A moment as seen from `now`: "18:00", on another day "Mon 23 Nov, 18:00". Epoch seconds. */
export function moment(at: number, now: number): string {
  const [day, today] = [new Date(at * 1000), new Date(now * 1000)]
  return isoDay(day) === isoDay(today) ? timeOfDay(at) : `${weekdayAndDay(day, today)}, ${timeOfDay(at)}`
}

/** The same in a sentence: "at 18:00", "on Mon 23 Nov, 18:00". */
export function atMoment(at: number, now: number): string {
  const text = moment(at, now)
  return text.includes(',') ? `on ${text}` : `at ${text}`
}

/** A label on a time axis: the time of day, or at midnight the new day: "14:00", "21 Nov". Epoch seconds. */
export function axisTime(at: number): string {
  const date = new Date(at * 1000)
  return date.getHours() === 0 && date.getMinutes() === 0 ? monthDay(date) : clock(date)
}

/** Date and time: "3 May 2026, 14:02". Epoch seconds. */
export function dateAndTime(at: number): string {
  const date = new Date(at * 1000)
  return `${monthDay(date)} ${date.getFullYear()}, ${clock(date)}`
}

/** The same to the second: "3 May 2026, 14:02:11". */
export function exactTime(at: number): string {
  return `${dateAndTime(at)}:${twoDigits(new Date(at * 1000).getSeconds())}`
}

// Not by `Intl`, whose first use takes as long as ten rows of instances.

const twoDigits = (part: number) => String(part).padStart(2, '0')
const clock = (date: Date) => `${twoDigits(date.getHours())}:${twoDigits(date.getMinutes())}`

export const weekdays = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ')
const weekday = (date: Date): string => weekdays[date.getDay()] ?? ''

const months = 'January February March April May June July August September October November December'.split(
  ' ',
)

/** "November". */
export const monthInFull = (date: Date): string => months[date.getMonth()] ?? ''
/** "Nov". */
export const monthName = (date: Date): string => monthInFull(date).slice(0, 3)
/** "21 Nov". */
export const monthDay = (date: Date): string => `${date.getDate()} ${monthName(date)}`
/** "November 2026". */
export const monthAndYear = (date: Date): string => `${monthInFull(date)} ${date.getFullYear()}`

/** "Sat 21 Nov", and of another year than `now` "Sun 3 Jan 2027". */
export function weekdayAndDay(date: Date, now: Date): string {
  return withYear(`${weekday(date).slice(0, 3)} ${monthDay(date)}`, date, now)
}

/** A day as a heading: "Today", "Yesterday", "Thursday 19 November", "Sunday 28 December 2025". */
export function dayTitle(date: Date, now: Date): string {
  if (isoDay(date) === isoDay(now)) return 'Today'
  const yesterday = new Date(now.getFullYear(), now.getMonth(), now.getDate() - 1)
  return isoDay(date) === isoDay(yesterday)
    ? 'Yesterday'
    : withYear(`${weekday(date)} ${date.getDate()} ${monthInFull(date)}`, date, now)
}

function withYear(day: string, date: Date, now: Date): string {
  return date.getFullYear() === now.getFullYear() ? day : `${day} ${date.getFullYear()}`
}

/** "2026-11-21", which also sorts. */
export function isoDay(date: Date): string {
  return [date.getFullYear(), date.getMonth() + 1, date.getDate()].map(twoDigits).join('-')
}
