import { columns, type RowColumn } from './columns.ts'
import { needsYou, type Row } from './rows.ts'

export interface RowSort {
  column: RowColumn
  descending: boolean
}

const columnOf = (name: RowColumn) => columns.find(({ column }) => column === name)

/** The first click sorts texts from A and figures from the largest, the second reverses, the third ends the sorting. */
export function instanceSortAfterClick(now: RowSort | undefined, column: RowColumn): RowSort | undefined {
  const descending = columnOf(column)?.figure === true
  if (now?.column !== column) return { column, descending }
  return now.descending === descending ? { column, descending: !descending } : undefined
}

const collator = new Intl.Collator('en', { numeric: true, sensitivity: 'base' })

/**
 * Rows that need the user first, and each part sorted, or else newest first. Unknown values come last in both
 * directions; equals keep their order.
 */
export function sortRows(rows: readonly Row[], by: RowSort | undefined, now: number): readonly Row[] {
  const urgent = rows.filter(needsYou)
  if (urgent.length === 0 || urgent.length === rows.length) return sorted(rows, by, now)
  return [
    ...sorted(urgent, by, now),
    ...sorted(
      rows.filter(row => !needsYou(row)),
      by,
      now,
    ),
  ]
}

function sorted(rows: readonly Row[], by: RowSort | undefined, now: number): readonly Row[] {
  if (!by) return rows
  const turn = by.descending ? -1 : 1
  const column = columnOf(by.column)
  const keyed = rows.map(row => ({ row, key: column?.order?.(row, now) }))
  keyed.sort((a, b) => {
    if (a.key === undefined || b.key === undefined)
      return Number(a.key === undefined) - Number(b.key === undefined)
    if (typeof a.key === 'number' && typeof b.key === 'number') return (a.key - b.key) * turn
    return collator.compare(String(a.key), String(b.key)) * turn
  })
  return keyed.map(({ row }) => row)
}
