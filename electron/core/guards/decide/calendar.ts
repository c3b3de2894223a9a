/** When the day and the month of this machine's calendar end that a moment is in. Epoch seconds. */
export function periodEnds(at: number): { dayEnds: number; monthEnds: number } {
  const date = new Date(at * 1000)
  const [year, month] = [date.getFullYear(), date.getMonth()]
  return {
    dayEnds: new Date(year, month, date.getDate() + 1).getTime() / 1000,
    monthEnds: new Date(year, month + 1, 1).getTime() / 1000,
  }
}
