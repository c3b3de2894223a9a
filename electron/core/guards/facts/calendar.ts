/** When the day and the month of this machine's calendar begin and end that a moment is in. Epoch seconds. */
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
    dayBegan: new Date(year, month, date.getDate()).getTime() / 1000,
    dayEnds: new Date(year, month, date.getDate() + 1).getTime() / 1000,
    monthBegan: new Date(year, month, 1).getTime() / 1000,
    monthEnds: new Date(year, month + 1, 1).getTime() / 1000,
  }
}
