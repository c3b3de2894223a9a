import { type Catalogue, type ListedOffer, offersAt } from './catalogue.ts'
import { passesFilter } from './filter.ts'
import { offerColumns, type SortColumn } from './offer-columns.ts'
import type { OfferFilter } from './offer-query.ts'

export interface SortBy {
  column: SortColumn
  descending: boolean
}

/** The order after a click on a column's header: the first one puts the better values first. */
export function sortAfterClick(now: SortBy, column: SortColumn): SortBy {
  if (now.column === column) return { column, descending: !now.descending }
  return { column, descending: offerColumns[column].moreIsBetter ?? false }
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
    const sign = descending ? -1 : 1
    const keys = keysOf(offers.map(offerColumns[column].order)).map(key =>
      Number.isNaN(key) ? Number.MAX_VALUE : sign * key,
    )
    const prices = Float64Array.from(offers, listed => listed.price ?? Number.MAX_VALUE)
    const ids = Float64Array.from(offers, listed => listed.offer.id)
    const at = (values: Float64Array, index: number) => values[index] ?? 0
    return Uint32Array.from(offers.keys()).sort(
      (a, b) => at(keys, a) - at(keys, b) || at(prices, a) - at(prices, b) || at(ids, a) - at(ids, b),
    )
  }
}

/** Numbers as they are, and of texts their rank, in which numbers within them count by value; NaN for unknown ones. */
function keysOf(values: readonly (number | string | undefined)[]): Float64Array {
  const { compare } = new Intl.Collator('en', { numeric: true })
  const texts = [...new Set(values.filter(value => typeof value === 'string'))].sort(compare)
  const rank = new Map(texts.map((text, index) => [text, index]))
  return Float64Array.from(values, value =>
    typeof value === 'string' ? (rank.get(value) ?? 0) : (value ?? Number.NaN),
  )
}
