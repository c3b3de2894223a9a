import { duration } from '#contract/format/time.ts'
import { hasTrait } from '#contract/instance/state-traits.ts'
import { placeName } from '#contract/market/place.ts'
import { offerOf } from '#contract/market/rental-view.ts'
import { knownSpent, runningSince } from '#contract/reading.ts'
import { bootingSince } from './boot.ts'
import { type Row, rowPrice, rowState } from './rows.ts'

/**
 * The columns and parts of a row that need a minimal table width (pixels), the least important first. Each leaves the
 * name 96 pixels, in which an instance's number fits.
 */
const leastWidths = {
  image: 1706,
  place: 1486,
  vram: 1336,
  id: 1220,
  gpuMemory: 1134,
  uptime: 1100,
  jupyter: 1014,
  spent: 978,
  stops: 910,
  words: 760,
  load: 672,
  gpu: 550,
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
  /** Figures are aligned to the right and sorted the largest first. */
  figure?: true
  /** The column is left out where there is no room for this part. */
  part?: Part
  /**
   * The sort key; `now` in epoch seconds of the account's time. Load and memory have none: rows that move with every
   * poll are hard to click.
   */
  order?(row: Row, now: number): string | number | undefined
  /** The text of a cell; absent where a cell is more than text. */
  text?(row: Row, now: number): string | undefined
}

/** The columns of the instances' table, from left to right. */
export const columns: readonly Column[] = [
  { column: 'state', title: 'State', order: row => rowState(row).word },
  {
    column: 'name',
    title: 'Name',
    order: ({ instance, rental }) =>
      instance ? [instance.label, `#${instance.id}`].filter(Boolean).join(' ') : rental?.label,
  },
  {
    column: 'gpu',
    title: 'GPU',
    part: 'gpu',
    order({ instance, rental }) {
      const offer = rental && offerOf(rental)
      const name = instance?.gpu?.name ?? offer?.gpuName
      return name && `${name} ${instance?.gpu?.count ?? offer?.gpuCount ?? 1}`
    },
  },
  { column: 'place', title: 'Place', part: 'place', order: place, text: place },
  { column: 'image', title: 'Image', part: 'image', order: image, text: image },
  { column: 'price', title: 'Price', figure: true, part: 'price', order: row => rowPrice(row).micros },
  {
    column: 'spent',
    title: 'Spent',
    figure: true,
    part: 'spent',
    order: ({ instance }, now) => instance && knownSpent(instance, now),
  },
  { column: 'load', title: 'GPU load, 60 min', part: 'load' },
  { column: 'vram', title: 'VRAM, GB', part: 'vram' },
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
  { column: 'stops', title: 'Stops', part: 'stops', order: ({ stops }) => stops?.[0]?.at },
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
