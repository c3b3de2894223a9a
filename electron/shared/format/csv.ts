import type { Micros } from '../spending/money.ts'

type Cell = string | number

/** Exact: six digits after the point. */
export function dollars(amount: Micros): string {
  const digits = String(Math.abs(amount)).padStart(7, '0')
  return `${amount < 0 ? '-' : ''}${digits.slice(0, -6)}.${digits.slice(-6)}`
}

/** RFC 4180. */
export function csv(rows: readonly (readonly Cell[])[]): string {
  return rows.map(row => `${row.map(cellText).join(',')}\r\n`).join('')
}

/** Others may choose a label, so one that a spreadsheet would run as a formula becomes text. A number is none. */
function cellText(cell: Cell): string {
  const isFormula =
    typeof cell === 'string' &&
    /^(?:[=@\t\r]|[+-](?!(?:(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?|inf)$))/.test(cell)
  const text = isFormula ? `'${cell}` : String(cell)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
