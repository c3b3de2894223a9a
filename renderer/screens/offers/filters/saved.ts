import type { OfferFilter, SavedQuery } from '../../../../electron/contract/market/offer.ts'
import { countryName } from '../../../../electron/contract/market/place.ts'
import { rate } from '../../../words/money.ts'

/** A name to offer for a search: `H100 SXM up to $3.000/h, Sweden`. */
export function searchName({ query, filter }: SavedQuery): string {
  const what = named(filter.gpus, gpu => gpu) ?? (filter.text?.trim() || 'Any GPU')
  const words = [count(filter) + what]
  if (filter.priceTo !== undefined) words.push(`up to ${rate(filter.priceTo * 1_000_000)}`)
  const where = named(filter.regions, countryName)
  const name = words.join(' ') + (where ? `, ${where}` : '') + (query.type === 'bid' ? ', interruptible' : '')
  return name.length > 64 ? `${name.slice(0, 63)}…` : name
}

function named(values: readonly string[] | undefined, name: (value: string) => string): string | undefined {
  const [first, second, ...rest] = values ?? []
  if (first === undefined) return undefined
  if (second === undefined) return name(first)
  return rest.length === 0 ? `${name(first)}, ${name(second)}` : `${name(first)} and ${rest.length + 1} more`
}

function count({ countFrom, countTo }: OfferFilter): string {
  if (countFrom === undefined && countTo === undefined) return ''
  return countFrom === countTo ? `${countFrom} × ` : `${countFrom ?? 1}–${countTo ?? '…'} × `
}
