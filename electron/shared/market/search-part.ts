import * as v from 'valibot'
import { rate } from '../format/money.ts'
import { named } from '../format/name.ts'
import { micros } from '../spending/money.ts'
import { activeParts, type FilterPart, filterWithout } from './filter.ts'
import { furtherParts, furtherWords } from './further-filters.ts'
import type { OfferFilter, SavedQuery } from './offer-query.ts'
import { placeWords } from './place.ts'

/** A condition of a search that the user can drop. */
export const SearchPart = v.picklist([
  'verified',
  'gpus',
  'count',
  ...furtherParts,
  'regions',
  'price',
  'extra',
  'text',
])
export type SearchPart = v.InferOutput<typeof SearchPart>

/** A search's conditions, the most significant first. */
export function searchParts({ query, filter }: SavedQuery): SearchPart[] {
  const active = new Set<SearchPart>(activeParts(filter))
  if (query.verifiedOnly) active.add('verified')
  if (Object.keys(query.extra ?? {}).length > 0) active.add('extra')
  return SearchPart.options.filter(part => active.has(part))
}

/** The search without some of its conditions. */
export function withoutParts(search: SavedQuery, parts: readonly SearchPart[]): SavedQuery {
  const { extra, ...query } = search.query
  return {
    query: {
      ...query,
      verifiedOnly: query.verifiedOnly && !parts.includes('verified'),
      ...(extra && !parts.includes('extra') ? { extra } : {}),
    },
    filter: parts.filter(isFilterPart).reduce<OfferFilter>(filterWithout, search.filter),
  }
}

/** A condition as text: `at least 99.1% reliable`. */
export function searchPartWords({ query, filter }: SavedQuery, part: SearchPart): string {
  switch (part) {
    case 'verified':
      return 'a verified host'
    case 'extra':
      return `the template’s machine filters (${Object.keys(query.extra ?? {}).join(', ')})`
    case 'gpus':
      return named(filter.gpus ?? [], { last: ' or ' })
    case 'count':
      return countWords(filter)
    case 'regions':
      return `in ${named(placeWords(filter.regions ?? []), { last: ' or ' })}`
    case 'price':
      return `at most ${rate(micros(filter.priceTo ?? 0))}`
    case 'text':
      return `matching “${filter.text}”`
    default:
      return furtherWords(part, filter)
  }
}

function isFilterPart(part: SearchPart): part is FilterPart {
  return part !== 'verified' && part !== 'extra'
}

function countWords({ countFrom, countTo }: OfferFilter): string {
  const gpus = countTo === 1 || (countTo === undefined && countFrom === 1) ? 'GPU' : 'GPUs'
  if (countFrom === countTo) return `${countFrom} ${gpus}`
  if (countTo === undefined) return `at least ${countFrom} ${gpus}`
  return countFrom === undefined ? `at most ${countTo} ${gpus}` : `${countFrom} to ${countTo} ${gpus}`
}
