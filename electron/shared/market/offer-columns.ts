import { type Catalogue, type ListedOffer, offersAt } from './catalogue.ts'
import { passesFilter } from './filter.ts'
import type { OfferFilter } from './offer.ts'

export const sortColumns = [
  'gpu',
  'memory',
  'price',
  'pricePerGpu',
  'score',
  'cpu',
  'ram',
  'disk',
  'network',
  'traffic',
  'cuda',
  'reliability',
  'place',
] as const
export type SortColumn = (typeof sortColumns)[number]
export interface SortBy {
  column: SortColumn
  descending: boolean
}

/** Whether a column's first click sorts in descending order: the better values come first. */
export const descendingFirst: Record<SortColumn, boolean> = {
  gpu: false,
  price: false,
  pricePerGpu: false,
  score: true,
  memory: true,
  cpu: true,
  ram: true,
  disk: true,
  network: true,
  traffic: false,
  cuda: true,
  reliability: true,
  place: false,
}

/** The order after a click on a column's header. */
export function sortAfterClick(now: SortBy, column: SortColumn): SortBy {
  if (now.column === column) return { column, descending: !now.descending }
  return { column, descending: descendingFirst[column] }
}

const numbers: Partial<Record<SortColumn, (listed: ListedOffer) => number | undefined>> = {
  price: listed => listed.price,
  pricePerGpu: listed => listed.pricePerGpu,
  score: listed => listed.offer.scorePerDollar,
  memory: ({ offer: { gpuMemory, gpuCount } }) =>
    gpuMemory === undefined ? undefined : gpuMemory * (gpuCount ?? 1),
  cpu: listed => listed.offer.cpuCores,
  ram: listed => listed.offer.memory,
  disk: listed => listed.offer.disk,
  network: listed => listed.offer.down,
  traffic: ({ offer: { downCost, upCost } }) => downCost ?? upCost,
  cuda: listed => listed.offer.cuda,
  reliability: listed => listed.offer.reliability,
}

/**
 * Sorts a catalogue, and caches each order. Keys are numbers in a typed array (texts become their rank), so that a
 * comparison is a subtraction. Unknown values come last in both directions; ties are broken by price, then by id.
 */
export class Sorter {
  readonly #catalogue: Catalogue
  /** Positions in the catalogue. */
  readonly #orders = new Map<string, Uint32Array>()

  constructor(catalogue: Catalogue) {
    this.#catalogue = catalogue
  }

  /** The offers that pass, in that order. */
  order(...asked: Parameters<Sorter['positions']>): ListedOffer[] {
    return offersAt(this.#catalogue, this.positions(...asked))
  }

  /**
   * The positions in the catalogue of the offers that pass, in that order, with those of `failed` machines at the end.
   * Offers are tested in the catalogue's order, which is their order in memory.
   */
  positions(
    by: SortBy,
    filter: OfferFilter = {},
    failed: Readonly<Record<string, { times: number }>> = {},
  ): number[] {
    const { offers } = this.#catalogue
    const isPassing = offers.map(passesFilter(filter))
    const positions: number[] = []
    for (const position of this.#order(by)) if (isPassing[position]) positions.push(position)
    if (Object.keys(failed).length === 0) return positions
    const failures = offers.map(({ offer }) => failed[offer.machineId ?? '']?.times ?? 0)
    return positions.sort((a, b) => (failures[a] ?? 0) - (failures[b] ?? 0))
  }

  #order(by: SortBy): Uint32Array {
    const name = `${by.column} ${by.descending}`
    const order = this.#orders.get(name) ?? this.#sort(by)
    this.#orders.set(name, order)
    return order
  }

  #sort({ column, descending }: SortBy): Uint32Array {
    const { offers } = this.#catalogue
    const read = numbers[column]
    const raw = read ? Float64Array.from(offers, listed => read(listed) ?? Number.NaN) : ranks(offers, column)
    const sign = descending ? -1 : 1
    const keys = raw.map(key => (Number.isNaN(key) ? Number.MAX_VALUE : sign * key))
    const prices = Float64Array.from(offers, listed => listed.price ?? Number.MAX_VALUE)
    const ids = Float64Array.from(offers, listed => listed.offer.id)
    const at = (values: Float64Array, index: number) => values[index] ?? 0
    return Uint32Array.from(offers.keys()).sort(
      (a, b) => at(keys, a) - at(keys, b) || at(prices, a) - at(prices, b) || at(ids, a) - at(ids, b),
    )
  }
}

/** The rank of each text in the column, with numbers in names compared by value. */
function ranks(offers: readonly ListedOffer[], column: SortColumn): Float64Array {
  const text = (listed: ListedOffer) =>
    column === 'gpu' ? (listed.offer.gpuName ?? '') : (listed.offer.location ?? '')
  const collator = new Intl.Collator('en', { numeric: true })
  const rank = new Map<string, number>()
  for (const each of [...new Set(offers.map(text))].sort(collator.compare)) rank.set(each, rank.size)
  return Float64Array.from(offers, listed => {
    const own = text(listed)
    if (own === '') return Number.NaN
    const place = (rank.get(own) ?? 0) * 1000
    return column === 'gpu' ? place + Math.min(999, listed.offer.gpuCount ?? 0) : place
  })
}
