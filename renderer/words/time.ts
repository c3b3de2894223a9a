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

const counted = (count: number, unit: string) => `${count} ${unit}${count === 1 ? '' : 's'}`

/** How long ago, in words: "just now", "3 minutes ago", "2 days ago", "19 months ago", "3 years ago". Seconds. */
export function ago(seconds: number): string {
  if (seconds < 5) return 'just now'
  if (seconds < 60) return `${counted(Math.floor(seconds), 'second')} ago`
  if (seconds < 3600) return `${counted(Math.floor(seconds / 60), 'minute')} ago`
  if (seconds < 86_400) return `${counted(Math.floor(seconds / 3600), 'hour')} ago`
  const days = Math.floor(seconds / 86_400)
  if (days < 61) return `${counted(days, 'day')} ago`
  if (days < 2 * 365.25) return `${counted(Math.floor(days / (365.25 / 12)), 'month')} ago`
  return `${counted(Math.floor(days / 365.25), 'year')} ago`
}

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' })
const exact = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' })

/** The time of day: "14:02". Epoch seconds. */
export function timeOfDay(at: number): string {
  return clock.format(at * 1000)
}

/** As short as an axis needs: the time of day, and at midnight the day that begins: "14:00", "21 Nov". Epoch seconds. */
export function axisTime(at: number): string {
  const date = new Date(at * 1000)
  return date.getHours() === 0 && date.getMinutes() === 0 ? day.format(date) : clock.format(date)
}

/** Date and time to the second: "3 May 2026, 14:02:11". Epoch seconds. */
export function exactTime(at: number): string {
  return exact.format(at * 1000)
}
