import { runningSince, spentBy } from '../../../electron/contract/reading.ts'
import { type Row, rowPrice, rowState } from './rows.ts'

/** The load is none: rows that change places with every look are rows that are missed by a click. */
export type RowColumn = 'state' | 'name' | 'gpu' | 'price' | 'uptime' | 'spent'

export interface RowSort {
  column: RowColumn
  descending: boolean
}

const largestFirst = (column: RowColumn) => column === 'price' || column === 'uptime' || column === 'spent'

/** Texts begin with A, figures with the largest; a second click turns it round, a third one takes it back. */
export function sortAfterClick(now: RowSort | undefined, column: RowColumn): RowSort | undefined {
  const descending = largestFirst(column)
  if (now?.column !== column) return { column, descending }
  return now.descending === descending ? { column, descending: !descending } : undefined
}

const collator = new Intl.Collator('en', { numeric: true, sensitivity: 'base' })

/** In that order, or newest first as they are. What is unknown comes last either way, and equals stay as they were. */
export function sortRows(rows: readonly Row[], by: RowSort | undefined, now: number): readonly Row[] {
  if (!by) return rows
  const turn = by.descending ? -1 : 1
  const keyed = rows.map(row => ({ row, key: keyOf(row, by.column, now) }))
  keyed.sort((a, b) => {
    if (a.key === undefined || b.key === undefined)
      return Number(a.key === undefined) - Number(b.key === undefined)
    if (typeof a.key === 'number' && typeof b.key === 'number') return (a.key - b.key) * turn
    return collator.compare(String(a.key), String(b.key)) * turn
  })
  return keyed.map(({ row }) => row)
}

function keyOf(row: Row, column: RowColumn, now: number): string | number | undefined {
  const { instance, rental, failover } = row
  const offer = rental?.offer ?? failover?.tries.at(-1)?.offer
  switch (column) {
    case 'state':
      return rowState(row).word
    case 'name':
      return instance
        ? [instance.label, `#${instance.id}`].filter(Boolean).join(' ')
        : (rental ?? failover)?.label
    case 'gpu': {
      const name = instance?.gpu?.name ?? offer?.gpuName
      return name && `${name} ${instance?.gpu?.count ?? offer?.gpuCount ?? 1}`
    }
    case 'price':
      return rowPrice(row).micros
    case 'uptime': {
      const since = instance && runningSince(instance)
      return since === undefined ? undefined : now - since
    }
    case 'spent':
      return instance && spentBy(instance, now)
  }
}
