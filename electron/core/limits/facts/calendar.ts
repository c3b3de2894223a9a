import { midnight, nextMidnight } from '#core/money/local-days.ts'

/** Begin and end of a moment's day and month in this computer's time zone. Epoch seconds. */
export interface Periods {
  dayBegan: number
  dayEnds: number
  monthBegan: number
  monthEnds: number
}

export function periodsOf(at: number): Periods {
  const date = new Date(at * 1000)
  const [year, month] = [date.getFullYear(), date.getMonth()]
  return {
    dayBegan: midnight(at),
    dayEnds: nextMidnight(at),
    monthBegan: new Date(year, month, 1).getTime() / 1000,
    monthEnds: new Date(year, month + 1, 1).getTime() / 1000,
  }
}
