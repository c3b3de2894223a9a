import { type Row, rowState } from './rows.ts'

/** How many rows run, are on their way, and need the user (broken ones included). */
export interface Counts {
  running: number
  onTheirWay: number
  needYou: number
}

/** Whether a row waits for the user: it was outbid, crashed, or has a question. */
export function needsYou(row: Row): boolean {
  const { shape } = rowState(row)
  return shape === 'needs-you' || shape === 'broken'
}

export function countsOf(rows: readonly Row[]): Counts {
  const shapes = rows.map(row => rowState(row).shape)
  const count = (...wanted: readonly string[]) => shapes.filter(shape => wanted.includes(shape)).length
  return { running: count('running'), onTheirWay: count('busy'), needYou: rows.filter(needsYou).length }
}

/** `2 running, 1 on its way`, without zeros; `urgentWords` has the rest, which is shown in bold. */
export function calmWords({ running, onTheirWay }: Counts): string {
  const parts = [running > 0 && `${running} running`, onTheirWay > 0 && `${onTheirWay} starting`]
  return parts.filter(Boolean).join(', ')
}

export function urgentWords({ needYou }: Counts): string {
  return needYou === 0 ? '' : `${needYou} ${needYou === 1 ? 'needs' : 'need'} you`
}
