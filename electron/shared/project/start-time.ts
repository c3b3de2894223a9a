import * as v from 'valibot'

const form = 'must be a time such as "02:00", or daily 02:00'

/** When a run begins, by the clock of this computer: `02:00`, or `daily 02:00`. */
export const StartTime = v.pipe(
  v.string(form),
  v.trim(),
  v.regex(/^(?:daily )?(?:[01]?\d|2[0-3]):[0-5]\d$/, form),
)

/** Seconds by which a run may begin late, as after a sleep; then it waits for the next day. */
export const latestStart = 3600

export function isDaily(start: string | undefined): boolean {
  return start?.startsWith('daily') ?? false
}

/**
 * The first moment after `at` at which clocks here show the time, both in epoch seconds. A time that a change of the clocks skips
 * counts as the same time after midnight, so as an hour later; of one that comes twice the first counts.
 */
export function nextStart(start: string, at: number): number {
  const [hours = 0, minutes = 0] = (start.split(' ').at(-1) ?? '').split(':').map(Number)
  const today = new Date(at * 1000)
  const moments = [0, 1, 2].map(days => {
    const day = today.getDate() + days
    return new Date(today.getFullYear(), today.getMonth(), day, hours, minutes).getTime() / 1000
  })
  return moments.find(moment => moment > at) ?? at + 86_400
}

/** When a run begins, for its plan. */
export function startWords({ start }: { start?: string | undefined }): string[] {
  if (start === undefined) return []
  const time = start.split(' ').at(-1)
  const daily = isDaily(start) ? ' every day until you cancel it. The highest cost is that of one day' : ''
  return [
    `It begins at ${time}${daily}, while Berth runs. If this computer sleeps then, it begins as it wakes, ` +
      `an hour late at most, else on the next day.`,
  ]
}
