import { offerName, totalMemoryWords } from '#renderer/features/market/offerWords.ts'
import { rate, trafficBriefly, trafficWords } from '#shared/format/money.ts'
import { count, figure, tenths } from '#shared/format/size.ts'
import type { ListedOffer } from '#shared/market/catalogue.ts'
import type { SortColumn } from '#shared/market/offer-columns.ts'

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

const nothing: CellWords = { text: '–', none: true }

/** The text of an offer's cell. */
export function cellWords(listed: ListedOffer, column: SortColumn): CellWords {
  const { offer } = listed
  switch (column) {
    case 'gpu': {
      const text = offerName(listed)
      return { text, more: text }
    }
    case 'memory':
      return memory(listed)
    case 'cpu':
      return cellOf(offer.cpuCores, count, offer.cpuName)
    case 'traffic':
      return cellOf(trafficBriefly(offer), text => text, trafficWords(offer))
    case 'network':
      return offer.down === undefined && offer.up === undefined
        ? nothing
        : { text: `${speed(offer.down)} · ${speed(offer.up)}` }
    case 'price':
      return cellOf(listed.price, price)
    case 'pricePerGpu':
      return cellOf(listed.pricePerGpu, price)
    case 'score':
      return cellOf(offer.scorePerDollar, score => figure(score, score < 100 ? 1 : 0))
    case 'ram':
      return cellOf(offer.memory, gigabytes)
    case 'disk':
      return cellOf(offer.disk, disk => count(Math.floor(disk)))
    case 'reliability':
      // Rounded down, so that only the full share shows 100.
      return cellOf(offer.reliability, share => tenths(Math.floor(share * 1000) / 10))
    case 'cuda':
      return cellOf(offer.cuda, tenths)
    default:
      return nothing
  }
}

function cellOf<Value>(value: Value | undefined, words: (value: Value) => string, more?: string): CellWords {
  return value === undefined ? nothing : { text: words(value), more }
}

const price = (micros: number) => rate(micros).replace(/^\$|\/h$/g, '')
const gigabytes = (megabytes: number) => count(megabytes / 1024)

function memory({ offer }: ListedOffer): CellWords {
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
