import { type SortColumn, sortColumns } from '#shared/market/offer-columns.ts'

/** A column of the offers table. */
export interface OfferColumn {
  column: SortColumn
  title: string
  /** An explanation of the title, where it needs one. */
  about?: string
  /** Pixels; the GPU's is its minimum, since it takes the room that the others leave. */
  width: number
  /** Numbers are aligned right. */
  figure: boolean
}

type Facts = Omit<OfferColumn, 'column' | 'figure'> & { figure?: false }

const facts: Readonly<Record<SortColumn, Facts>> = {
  gpu: { title: 'GPU', width: 116, figure: false },
  memory: { title: 'VRAM, GB', about: 'GPUs, VRAM of each, and total', width: 112 },
  price: { title: '$/h', width: 62 },
  pricePerGpu: { title: '$/GPU·h', about: 'Price per GPU and hour', width: 70 },
  score: { title: 'Score/$', about: 'Benchmark score per dollar and hour', width: 68 },
  cpu: { title: 'Cores', about: 'CPU cores', width: 56 },
  ram: { title: 'RAM', about: 'GB of RAM', width: 56 },
  disk: { title: 'Disk', about: 'GB of disk on offer', width: 62 },
  network: { title: 'Gb/s ↓ ↑', about: 'Download and upload', width: 92 },
  traffic: { title: 'Traffic', about: 'Price per GB received and per GB sent', width: 116 },
  cuda: { title: 'CUDA', about: 'The highest CUDA version', width: 58 },
  reliability: { title: 'Reliable', about: 'Percent; a badge marks verified hosts', width: 88 },
  place: { title: 'Place', width: 98, figure: false },
}

/** All columns, in their order. */
export const allColumns: readonly OfferColumn[] = sortColumns.map(column => ({
  figure: true,
  ...facts[column],
  column,
}))

/** The columns of the list beside an offer's details, whose rows have two lines. */
export const briefColumns = allColumns
  .filter(({ column }) => column === 'gpu' || column === 'price')
  .map(each => (each.column === 'price' ? { ...each, width: 148 } : each))

/** The columns to drop in a narrow table, in this order; the GPU and the price stay. */
const droppedFirst: readonly SortColumn[] = [
  'cpu',
  'traffic',
  'ram',
  'cuda',
  'disk',
  'network',
  'score',
  'pricePerGpu',
  'place',
  'memory',
  'reliability',
]

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
