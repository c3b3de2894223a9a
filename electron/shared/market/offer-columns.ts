import { rate, trafficBriefly, trafficWords } from '../format/money.ts'
import { count, figure, tenths } from '../format/size.ts'
import type { ListedOffer } from './catalogue.ts'
import { offerName, totalMemoryWords } from './offer-words.ts'

/** The text of a table's cell; its unit is in the head. */
export interface CellWords {
  text: string
  /** The figure's calculation, shown before it. */
  before?: string
  /** More detail, as a tooltip. */
  more?: string | undefined
  /** Whether the value is unknown. */
  none?: true
}

/** All that there is to say about a column of the offers table. */
interface ColumnFacts {
  title: string
  /** An explanation of the title, where it needs one. */
  about?: string
  /** The unit in a row that shows one value alone; absent where such a row has the value anyway. */
  unit?: string
  /** Pixels; the GPU's is its minimum, since it takes the room that the others leave. */
  width: number
  /** When a narrow table drops it: the lowest first. The GPU and the price stay. */
  dropped?: number
  /** Texts are aligned left, figures right. */
  isText?: true
  /** Drawn in the second colour. */
  isMinor?: true
  /** What it's sorted by; undefined if unknown. */
  order(listed: ListedOffer): number | string | undefined
  /** Whether the first click on its header sorts in descending order. */
  moreIsBetter?: true
  cell(listed: ListedOffer): CellWords
}

const nothing: CellWords = { text: '–', none: true }

function cellOf<Value>(value: Value | undefined, words: (value: Value) => string, more?: string): CellWords {
  return value === undefined ? nothing : { text: words(value), more }
}

const price = (micros: number) => rate(micros).replace(/^\$|\/h$/g, '')
const gigabytes = (megabytes: number) => count(megabytes / 1024)

function memoryCell({ offer }: ListedOffer): CellWords {
  const { gpuMemory, gpuCount = 1 } = offer
  if (gpuMemory === undefined) return nothing
  return {
    text: count(Math.round(gpuMemory / 1024) * gpuCount),
    before: `${gpuCount} × ${gigabytes(gpuMemory)} =`,
    more: totalMemoryWords(offer),
  }
}

/** Gb/s, from Mb/s. */
function speed(megabits: number | undefined): string {
  if (megabits === undefined) return '–'
  return megabits < 100 ? (megabits / 1000).toFixed(2) : tenths(megabits / 1000)
}

const columns = {
  gpu: {
    title: 'GPU',
    width: 116,
    isText: true,
    order: ({ offer: { gpuName, gpuCount = 0 } }) => gpuName && `${gpuName} ${gpuCount}`,
    cell: listed => ({ text: offerName(listed), more: offerName(listed) }),
  },
  memory: {
    title: 'VRAM, GB',
    about: 'GPUs, VRAM of each, and total',
    width: 112,
    dropped: 10,
    order: ({ offer: { gpuMemory, gpuCount = 1 } }) =>
      gpuMemory === undefined ? undefined : gpuMemory * gpuCount,
    moreIsBetter: true,
    cell: memoryCell,
  },
  price: {
    title: '$/h',
    width: 62,
    order: listed => listed.price,
    cell: listed => cellOf(listed.price, price),
  },
  pricePerGpu: {
    title: '$/GPU·h',
    about: 'Price per GPU and hour',
    unit: '$/GPU·h',
    width: 70,
    dropped: 8,
    order: listed => listed.pricePerGpu,
    cell: listed => cellOf(listed.pricePerGpu, price),
  },
  score: {
    title: 'Score/$',
    about: 'Benchmark score per dollar and hour',
    unit: 'score/$',
    width: 68,
    dropped: 7,
    order: ({ offer }) => offer.scorePerDollar,
    moreIsBetter: true,
    cell: ({ offer }) => cellOf(offer.scorePerDollar, score => figure(score, score < 100 ? 1 : 0)),
  },
  cpu: {
    title: 'Cores',
    about: 'CPU cores',
    unit: 'cores',
    width: 56,
    dropped: 1,
    isMinor: true,
    order: ({ offer }) => offer.cpuCores,
    moreIsBetter: true,
    cell: ({ offer }) => cellOf(offer.cpuCores, count, offer.cpuName),
  },
  ram: {
    title: 'RAM',
    about: 'GB of RAM',
    unit: 'GB RAM',
    width: 56,
    dropped: 3,
    isMinor: true,
    order: ({ offer }) => offer.memory,
    moreIsBetter: true,
    cell: ({ offer }) => cellOf(offer.memory, gigabytes),
  },
  disk: {
    title: 'Disk',
    about: 'GB of disk on offer',
    unit: 'GB disk',
    width: 62,
    dropped: 5,
    isMinor: true,
    order: ({ offer }) => offer.disk,
    moreIsBetter: true,
    cell: ({ offer }) => cellOf(offer.disk, disk => count(Math.floor(disk))),
  },
  network: {
    title: 'Gb/s ↓ ↑',
    about: 'Download and upload',
    unit: 'Gb/s',
    width: 92,
    dropped: 6,
    isMinor: true,
    order: ({ offer }) => offer.down,
    moreIsBetter: true,
    cell: ({ offer: { down, up } }) =>
      down === undefined && up === undefined ? nothing : { text: `${speed(down)} · ${speed(up)}` },
  },
  traffic: {
    title: 'Traffic',
    about: 'Price per GB received and per GB sent',
    unit: '$/GB',
    width: 116,
    dropped: 2,
    isMinor: true,
    order: ({ offer: { downCost, upCost } }) => downCost ?? upCost,
    cell: ({ offer }) => cellOf(trafficBriefly(offer), text => text, trafficWords(offer)),
  },
  cuda: {
    title: 'CUDA',
    about: 'The highest CUDA version',
    unit: 'CUDA',
    width: 58,
    dropped: 4,
    isMinor: true,
    order: ({ offer }) => offer.cuda,
    moreIsBetter: true,
    cell: ({ offer }) => cellOf(offer.cuda, tenths),
  },
  reliability: {
    title: 'Reliable',
    about: 'Percent; a badge marks verified hosts',
    width: 88,
    dropped: 11,
    order: ({ offer }) => offer.reliability,
    moreIsBetter: true,
    // Rounded down, so that only the full share shows 100.
    cell: ({ offer }) => cellOf(offer.reliability, share => tenths(Math.floor(share * 1000) / 10)),
  },
  place: {
    title: 'Place',
    width: 98,
    dropped: 9,
    isText: true,
    isMinor: true,
    order: ({ offer }) => offer.location,
    cell: ({ offer }) => cellOf(offer.location, location => location),
  },
} as const satisfies Record<string, ColumnFacts>

export type SortColumn = keyof typeof columns

/** The columns of the offers table, in their order. */
export const offerColumns: Readonly<Record<SortColumn, ColumnFacts>> = columns

export const sortColumns = Object.keys(columns) as SortColumn[]
