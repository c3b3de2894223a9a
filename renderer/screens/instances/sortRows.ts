import { standsOut } from '#renderer/features/limits/upcomingEnds.ts'
import { columns, type RowColumn } from './columns.ts'
import type { RowGroup } from './groupRows.ts'
import { needsYou, type Row, rowState } from './rows.ts'

export interface RowSort {
  column: RowColumn
  descending: boolean
}

/** `now`: epoch seconds of the account's time. `idle`: the minutes that an instance was idle, 0 while it works. */
export interface SortContext {
  now: number
  idle?: ReadonlyMap<number, number>
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
 * Rows that need the user first, and each part sorted, or else by how soon they may need the user. Unknown values come
 * last in both directions; equals keep their order.
 */
export function sortRows(
  rows: readonly Row[],
  by: RowSort | undefined,
  context: SortContext,
): readonly Row[] {
  const urgent = rows.filter(needsYou)
  if (urgent.length === 0 || urgent.length === rows.length) return sorted(rows, by, context)
  const others = rows.filter(row => !needsYou(row))
  return [...sorted(urgent, by, context), ...sorted(others, by, context)]
}

function sorted(rows: readonly Row[], by: RowSort | undefined, context: SortContext): readonly Row[] {
  const { column, descending } = by ?? { column: 'state', descending: false }
  const turn = descending ? -1 : 1
  const keyOf =
    column === 'state'
      ? (row: Row) => urgency(row, context)
      : (row: Row) => columnOf(column)?.order?.(row, context.now)
  const keyed = rows.map(row => ({ row, key: keyOf(row) }))
  keyed.sort((a, b) => {
    if (a.key === undefined || b.key === undefined)
      return Number(a.key === undefined) - Number(b.key === undefined)
    if (typeof a.key === 'number' && typeof b.key === 'number') return (a.key - b.key) * turn
    return collator.compare(String(a.key), String(b.key)) * turn
  })
  return keyed.map(({ row }) => row)
}

/** Seconds that no stop is ahead. */
const aLongTime = 1e10

/**
 * Smaller for what may need the user sooner: it stops within half an hour, is idle, stops later, starts, rests. Of one
 * kind the one that stops first.
 */
function urgency(row: Row, { now, idle }: SortContext): number {
  const left = Math.max(0, (row.stops?.[0]?.at ?? now + aLongTime) - now)
  const within = Math.min(left, aLongTime) / (2 * aLongTime)
  switch (rowState(row).shape) {
    case 'needs-you':
    case 'broken':
      return 0 + within
    case 'busy':
      return 4
    case 'stopped':
      return 5
    default:
      if (left <= standsOut) return 1 + within
      return (row.instance && idle?.get(row.instance.id) ? 2 : 3) + within
  }
}

/**
 * The order that the table shows. While it is held, the rows stay where they are, so that a click or a key reaches the
 * row that it was meant for: new rows then come last.
 */
export class ShownOrder {
  #asked = ''
  #places: ReadonlyMap<string, number> = new Map()

  /** `asked`: what the user sorts, groups and filters by, which is always obeyed at once. */
  of(groups: readonly RowGroup[], asked: string, held: boolean): readonly RowGroup[] {
    const places = this.#places
    const rowPlace = ({ key, rental }: Row) => places.get(key) ?? places.get(rental?.id ?? '')
    const shown =
      held && asked === this.#asked
        ? byPlace(groups, group => places.get(placeName(group))).map(group => ({
            ...group,
            rows: byPlace(group.rows, rowPlace),
          }))
        : groups
    this.#asked = asked
    const names = shown.flatMap(group => [placeName(group), ...group.rows.map(({ key }) => key)])
    this.#places = new Map(names.map((name, at) => [name, at]))
    return shown
  }
}

const placeName = ({ name }: RowGroup) => `group ${name}`

function byPlace<T>(items: readonly T[], place: (item: T) => number | undefined): T[] {
  return items.toSorted((a, b) => (place(a) ?? Number.MAX_VALUE) - (place(b) ?? Number.MAX_VALUE))
}
