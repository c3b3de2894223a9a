import { knownSpent, runningSince } from '#shared/derived.ts'
import { duration } from '#shared/format/time.ts'
import { hasTrait } from '#shared/instance/state-traits.ts'
import { placeName } from '#shared/market/place.ts'
import { offerOf } from '#shared/market/rental-view.ts'
import { bootingSince } from './boot.ts'
import { type Row, rowPrice, rowState } from './rows.ts'

/**
 * The columns and parts of a row that need a minimal table width (pixels), the least important first: what guards money
 * is left out last. Each leaves the name room for a number, and from the load on for most labels, also at the width of
 * the window's first size, which is 950.
 */
const leastWidths = {
  image: 1870,
  place: 1650,
  vram: 1500,
  gpuMemory: 1380,
  id: 1330,
  jupyter: 1240,
  uptime: 1200,
  spent: 1100,
  words: 1030,
  load: 930,
  gpu: 780,
  stops: 640,
  price: 432,
} as const

export type Part = keyof typeof leastWidths

/** The parts that fit a table's width in pixels. */
export function partsFor(width: number): ReadonlySet<Part> {
  const parts = Object.entries(leastWidths) as [Part, number][]
  return new Set(parts.filter(([, least]) => width >= least).map(([part]) => part))
}

export type RowColumn =
  | 'state'
  | 'name'
  | 'gpu'
  | 'place'
  | 'image'
  | 'price'
  | 'spent'
  | 'load'
  | 'vram'
  | 'uptime'
  | 'stops'

export interface Column {
  column: RowColumn
  title: string
  /** Pixels, with room for its longest content, so that nothing moves; 86 by default, and the name has the rest. */
  width?: number | ((parts: ReadonlySet<Part>, rows: readonly Row[]) => number)
  /** Figures are aligned to the right and sorted the largest first. */
  figure?: true
  /** The column is left out where there is no room for this part. */
  part?: Part
  /**
   * The sort key; `now` in epoch seconds of the account's time. Memory has none: rows that move with every poll are
   * hard to click.
   */
  order?(row: Row, now: number): string | number | undefined
  /** The text of a cell; absent where a cell is more than text. */
  text?(row: Row, now: number): string | undefined
}

/** The columns of the instances' table, from left to right. */
export const columns: readonly Column[] = [
  /** Sorted by need: see `sortRows`. */
  { column: 'state', title: 'State', width: 110, order: row => rowState(row).word },
  {
    column: 'name',
    title: 'Name',
    order: ({ instance, rental }) =>
      instance ? [instance.label, `#${instance.id}`].filter(Boolean).join(' ') : rental?.label,
  },
  {
    column: 'stops',
    title: 'Stops',
    width: (_parts, rows) => {
      if (rows.some(({ stops }) => stops?.[0]?.action === 'destroy')) return 212
      return rows.some(({ stops }) => (stops?.length ?? 0) > 1) ? 194 : 168
    },
    part: 'stops',
    order: ({ stops }) => stops?.[0]?.at,
  },
  {
    column: 'price',
    title: 'Price',
    width: 90,
    figure: true,
    part: 'price',
    order: row => rowPrice(row).micros,
  },
  {
    column: 'gpu',
    title: 'GPU',
    width: parts => (parts.has('gpuMemory') ? 170 : 116),
    part: 'gpu',
    order({ instance, rental }) {
      const offer = rental && offerOf(rental)
      const name = instance?.gpu?.name ?? offer?.gpuName
      return name && `${name} ${instance?.gpu?.count ?? offer?.gpuCount ?? 1}`
    },
  },
  { column: 'place', title: 'Place', width: 150, part: 'place', order: place, text: place },
  { column: 'image', title: 'Image', width: 220, part: 'image', order: image, text: image },
  {
    column: 'load',
    title: 'GPU load, 60 min',
    width: 146,
    part: 'load',
    order: ({ instance }) => (instance?.state === 'running' ? instance.gpuLoad : undefined),
  },
  { column: 'vram', title: 'VRAM, GB', width: 116, part: 'vram' },
  {
    column: 'spent',
    title: 'Spent',
    width: 82,
    figure: true,
    part: 'spent',
    order: ({ instance }, now) => instance && knownSpent(instance, now),
  },
  {
    column: 'uptime',
    title: 'Up',
    figure: true,
    part: 'uptime',
    order: uptime,
    text(row, now) {
      const seconds = uptime(row, now)
      return seconds === undefined ? undefined : duration(seconds)
    },
  },
]

/** The columns that fit. How much memory is used hears of connected instances alone: without any, it has no column. */
export function columnsFor(parts: ReadonlySet<Part>, memoryKnown: boolean): readonly Column[] {
  return columns.filter(
    ({ column, part }) => (part === undefined || parts.has(part)) && (column !== 'vram' || memoryKnown),
  )
}

function place({ instance, rental }: Row): string | undefined {
  const location = instance?.location ?? (rental && offerOf(rental))?.location
  return location === undefined ? undefined : placeName(location)
}

function image({ instance, rental }: Row): string | undefined {
  return instance?.image ?? rental?.image
}

/** Seconds since the instance began to run or boot. */
function uptime({ instance }: Row, now: number): number | undefined {
  const since =
    instance && (hasTrait(instance.state, 'booting') ? bootingSince(instance) : runningSince(instance))
  return since === undefined ? undefined : now - since
}
