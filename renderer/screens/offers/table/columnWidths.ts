import { offerColumns, type SortColumn, sortColumns } from '#shared/market/offer-columns.ts'

/** A column of the table, as wide as it's drawn. */
export interface OfferColumn {
  column: SortColumn
  title: string
  about?: string
  /** Pixels. */
  width: number
  /** Figures are aligned right. */
  figure: boolean
}

/** All columns, in their order. */
export const allColumns: readonly OfferColumn[] = sortColumns.map(column => {
  const { title, about, width, isText = false } = offerColumns[column]
  return { column, title, ...(about && { about }), width, figure: !isText }
})

/** The columns of the list beside an offer's details, whose rows have two lines. */
export const briefColumns = allColumns
  .filter(({ column }) => column === 'gpu' || column === 'price')
  .map(each => (each.column === 'price' ? { ...each, width: 118 } : each))

/** The columns that a narrow table drops, the first one first. */
const droppedFirst = sortColumns
  .filter(column => offerColumns[column].dropped !== undefined)
  .toSorted((a, b) => (offerColumns[a].dropped ?? 0) - (offerColumns[b].dropped ?? 0))

/** Pixels for the column with the Rent buttons, which always stays. */
export const actionsWidth = 66

/**
 * The columns that fit into a table of `width` pixels; the sorted one always stays.
 * @param longestName characters of the longest GPU name as shown, which sizes its column
 * @param wanted the user's columns; empty for all
 */
export function offerColumnsFor(
  width: number,
  sortedBy: SortColumn,
  longestName: number,
  wanted: readonly SortColumn[] = [],
): readonly OfferColumn[] {
  const gpu = Math.min(250, Math.max(140, 62 + longestName * 7))
  let shown = allColumns
    .filter(
      ({ column }) =>
        wanted.length === 0 || column === 'gpu' || column === 'price' || wanted.includes(column),
    )
    .map(each => (each.column === 'gpu' ? { ...each, width: gpu } : each))
  for (const column of droppedFirst) {
    if (room(shown) <= width) break
    if (column !== sortedBy) shown = shown.filter(each => each.column !== column)
  }
  const spare = Math.max(0, width - room(shown))
  const forPlace = Math.floor(Math.min(60, spare))
  // A little room between all figures makes a row easier to read than one wide gap after the GPU's name.
  const apart = Math.floor(Math.min(28, (spare - forPlace) / shown.length))
  return shown.map(each =>
    each.column === 'place'
      ? { ...each, width: each.width + forPlace }
      : each.figure
        ? { ...each, width: each.width + apart }
        : each,
  )
}

function room(columns: readonly OfferColumn[]): number {
  return columns.reduce((sum, { width }) => sum + width, actionsWidth)
}
