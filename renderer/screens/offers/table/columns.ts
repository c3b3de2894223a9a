import type { SortColumn } from '../../../../electron/contract/market/sort.ts'

/** A column of the offers table. */
export interface Column {
  column: SortColumn
  title: string
  /** What the title means, where it needs saying. */
  about?: string
  /** Pixels; the GPU's is the least, it takes what is left once the place has what it may need. */
  width: number
  /** Numbers stand right. */
  figure: boolean
}

/** In the order they are shown. */
const all: readonly Column[] = [
  { column: 'gpu', title: 'GPU', width: 116, figure: false },
  { column: 'price', title: 'Price', width: 88, figure: true },
  {
    column: 'pricePerGpu',
    title: 'Per GPU',
    about: 'Price of one GPU for an hour',
    width: 88,
    figure: true,
  },
  {
    column: 'score',
    title: 'Score per $',
    about: 'Benchmark score per dollar and hour',
    width: 96,
    figure: true,
  },
  { column: 'memory', title: 'VRAM', about: 'GPUs and the memory of each', width: 84, figure: true },
  { column: 'cpu', title: 'CPU', width: 76, figure: true },
  { column: 'disk', title: 'Disk', about: 'Disk on offer', width: 80, figure: true },
  { column: 'network', title: 'Down / up', width: 114, figure: true },
  {
    column: 'traffic',
    title: 'Traffic',
    about: 'Price of a GB received and of one sent',
    width: 124,
    figure: true,
  },
  { column: 'reliability', title: 'Reliability', width: 100, figure: true },
  { column: 'place', title: 'Where', width: 98, figure: false },
]

/** Those that go first when it gets narrow; the GPU and the price stay. */
const droppedFirst: readonly SortColumn[] = [
  'cpu',
  'traffic',
  'score',
  'network',
  'pricePerGpu',
  'memory',
  'place',
  'disk',
  'reliability',
]

/** Pixels for the column with the Rent buttons, which always stays. */
export const actionsWidth = 78

/**
 * The columns that fit a table of so many pixels; the one sorted by stays as long as any.
 * @param longestName characters of the longest GPU, as shown: it is not cut as long as others can go
 */
export function columnsFor(width: number, sortedBy: SortColumn, longestName: number): readonly Column[] {
  const gpu = Math.min(220, Math.max(116, 32 + longestName * 7))
  let shown = all.map(each => (each.column === 'gpu' ? { ...each, width: gpu } : each))
  for (const column of droppedFirst) {
    if (room(shown) <= width) break
    if (column !== sortedBy) shown = shown.filter(each => each.column !== column)
  }
  const spare = Math.max(0, width - room(shown))
  const forPlace = Math.floor(Math.min(60, spare))
  // Figures a little apart are read along a row more easily than all of them far from the GPU's name.
  const apart = Math.floor(Math.min(28, (spare - forPlace) / shown.length))
  return shown.map(each =>
    each.column === 'place'
      ? { ...each, width: each.width + forPlace }
      : each.figure
        ? { ...each, width: each.width + apart }
        : each,
  )
}

function room(columns: readonly Column[]): number {
  return columns.reduce((sum, { width }) => sum + width, actionsWidth)
}
