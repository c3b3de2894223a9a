import { type FieldsWith, fieldsWith, type PricedOffer } from './offer.ts'
import type { CellWords, ListedColumn } from './offer-field.ts'
import { unknownCell } from './offer-words.ts'

export type SortColumn = FieldsWith<'column'>

/** A column with its order and cell, which are made once and not for each row. */
type OfferColumn = ListedColumn<PricedOffer> & Required<Pick<ListedColumn<PricedOffer>, 'order' | 'cell'>>

const columns = fieldsWith('column').map(([name, { value = () => undefined, column }]) => {
  const { words = String, more } = column
  const cell = (listed: PricedOffer): CellWords => {
    const known = value(listed)
    return known === undefined ? unknownCell : { text: words(known), more: more?.(listed.offer) }
  }
  return [name, { order: value, cell, ...column }] as const
})

export const sortColumns = columns.map(([name]) => name)

/** The columns of the offers table, in their order. */
export const offerColumns = Object.fromEntries(columns) as Readonly<Record<SortColumn, OfferColumn>>
