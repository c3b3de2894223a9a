import { partWords } from '#renderer/features/market/offerWords.ts'
import { rate } from '#shared/format/money.ts'
import { isActive } from '#shared/market/filter.ts'
import { furtherFilters, furtherParts } from '#shared/market/further-filters.ts'
import type { OfferFilter, SavedQuery } from '#shared/market/offer-query.ts'
import { placeWords } from '#shared/market/place.ts'

/** Suggests a name for a search from its filters: `2 × H100 SXM up to $3.000/h, Sweden, VRAM 80 GB+`. */
export function searchName({ query, filter }: SavedQuery): string {
  const what = listed(filter.gpus) ?? (filter.text?.trim() || 'Any GPU')
  const price = filter.priceTo === undefined ? '' : ` up to ${rate(filter.priceTo * 1_000_000)}`
  const name = [
    count(filter) + what + price,
    filter.gpus?.length && filter.text?.trim(),
    listed(filter.regions && placeWords(filter.regions)),
    ...furtherParts
      .filter(part => isActive(filter, part))
      .map(part => {
        const { kind, name } = furtherFilters[part]
        return kind === 'only' ? name : `${name} ${partWords(filter, part)}`
      }),
    query.extra && Object.keys(query.extra).join(', '),
    query.type === 'bid' && 'interruptible',
  ]
    .filter(Boolean)
    .join(', ')
  return name.length > 64 ? `${name.slice(0, 63)}…` : name
}

function listed(values: readonly string[] | undefined): string | undefined {
  return values && values.length > 0 ? values.join(', ') : undefined
}

function count({ countFrom, countTo }: OfferFilter): string {
  if (countFrom === undefined) return countTo === undefined ? '' : `1–${countTo} × `
  if (countTo === undefined) return `${countFrom}+ × `
  return countFrom === countTo ? `${countFrom} × ` : `${countFrom}–${countTo} × `
}
