import type { ListedOffer } from './catalogue.ts'
import { type FurtherPart, furtherKeys, furtherTests } from './further-filters.ts'
import type { OfferFilter } from './offer-query.ts'
import { countryName } from './place.ts'
import { hasWord, readSearch, searchWords } from './search-text.ts'

/** A part of the filter that the page shows as one chip. */
export type FilterPart = 'gpus' | 'count' | 'price' | 'regions' | FurtherPart | 'text'

const parts: Readonly<Record<FilterPart, readonly (keyof OfferFilter)[]>> = {
  gpus: ['gpus'],
  count: ['countFrom', 'countTo'],
  price: ['priceTo'],
  regions: ['regions'],
  ...furtherKeys,
  text: ['text'],
}
const allParts = Object.keys(parts) as readonly FilterPart[]

/** Whether that part of the filter is set. */
export function isActive(filter: OfferFilter, part: FilterPart): boolean {
  return parts[part].some(key => {
    const value = filter[key]
    return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== ''
  })
}

export function activeParts(filter: OfferFilter): FilterPart[] {
  return allParts.filter(part => isActive(filter, part))
}

/** The filter without that part. */
export function filterWithout(filter: OfferFilter, part: FilterPart): OfferFilter {
  const rest = { ...filter }
  for (const key of parts[part]) delete rest[key]
  return rest
}

/** The filter with some values changed; undefined, '' or an empty list removes a value. */
export function withValues(filter: OfferFilter, values: Partial<OfferFilter>): OfferFilter {
  const parts = Object.entries({ ...filter, ...values }).filter(
    ([, value]) => value !== undefined && value !== '' && !(Array.isArray(value) && value.length === 0),
  )
  return Object.fromEntries(parts)
}

/** Both filters: of two bounds the one that fewer machines meet, of anything else the second. */
export function strictest(first: OfferFilter, second: OfferFilter): OfferFilter {
  const bounds = Object.entries(second).flatMap(([key, value]) => {
    const own = Object.entries(first).find(([name]) => name === key)?.[1]
    if (typeof own !== 'number' || typeof value !== 'number') return []
    return [[key, key.endsWith('To') ? Math.min(own, value) : Math.max(own, value)] as const]
  })
  return { ...first, ...second, ...Object.fromEntries(bounds) }
}

/** The offers that pass, in the given order. An offer without a filtered value does not pass. */
export function offersPassing(offers: readonly ListedOffer[], filter: OfferFilter): ListedOffer[] {
  return offers.filter(passesFilter(filter))
}

/** A function that tests whether an offer passes. */
export function passesFilter(filter: OfferFilter): (listed: ListedOffer) => boolean {
  const tests = testsOf(filter)
  return listed => {
    for (const test of tests) if (!test(listed)) return false
    return true
  }
}

type Test = (listed: ListedOffer) => boolean

function testsOf(filter: OfferFilter): Test[] {
  const tests: Test[] = []
  const { gpus, regions, countFrom, countTo, priceTo, text } = filter
  if (gpus && gpus.length > 0) {
    const chosenGpus = new Set(gpus)
    tests.push(({ offer }) => offer.gpuName !== undefined && chosenGpus.has(offer.gpuName))
  }
  if (countFrom !== undefined) tests.push(({ offer }) => (offer.gpuCount ?? 0) >= countFrom)
  if (countTo !== undefined) tests.push(({ offer }) => (offer.gpuCount ?? Infinity) <= countTo)
  if (priceTo !== undefined) {
    const most = Math.round(priceTo * 1_000_000)
    tests.push(({ price }) => price !== undefined && price <= most)
  }
  if (regions && regions.length > 0) {
    const chosenRegions = new Set(regions)
    tests.push(({ region }) => region !== undefined && chosenRegions.has(region))
  }
  tests.push(...furtherTests(filter))
  if (text !== undefined) {
    const typed = readSearch(text)
    tests.push(...testsOf(typed.filter))
    for (const found of typed.words.map(hasWord)) tests.push(listed => found(listed.text))
  }
  return tests
}

/** A filter with one demand less, and the number of offers that pass it. */
export interface Loosening {
  part: FilterPart
  /** The one word of a text that is left out. */
  word?: string
  filter: OfferFilter
  count: number
}

/** What brings back offers to a filter without results: without one of its parts or words, the most first. */
export function loosenings(offers: readonly ListedOffer[], filter: OfferFilter): Loosening[] {
  return activeParts(filter)
    .flatMap((part): Omit<Loosening, 'count'>[] => {
      const whole = { part, filter: filterWithout(filter, part) }
      return part === 'text' ? [...withoutWords(filter), whole] : [whole]
    })
    .map(way => ({ ...way, count: offersPassing(offers, way.filter).length }))
    .filter(({ count, part, word }, _, all) => count > 0 && !(part === 'text' && !word && someWord(all)))
    .sort((a, b) => b.count - a.count)
}

function withoutWords(filter: OfferFilter): Omit<Loosening, 'count'>[] {
  const words = searchWords(filter.text ?? '')
  if (words.length < 2) return []
  return words.map((word, at) => {
    const text = words.filter((_, other) => other !== at).join(' ')
    return { part: 'text', word, filter: { ...filter, text } }
  })
}

/** Whether leaving out one word is enough, so that the others need not go. */
function someWord(ways: readonly Loosening[]): boolean {
  return ways.some(({ word, count }) => word !== undefined && count > 0)
}

export interface Choice {
  value: string
  count: number
}

/** All GPUs, and chosen ones, by name, with the number of their offers that pass the rest of the filter. */
export function gpuChoices(offers: readonly ListedOffer[], filter: OfferFilter): Choice[] {
  return choices(
    offers,
    offersPassing(offers, filterWithout(filter, 'gpus')),
    listed => listed.offer.gpuName,
    filter.gpus ?? [],
  )
}

/** The same for countries. */
export function regionChoices(offers: readonly ListedOffer[], filter: OfferFilter): Choice[] {
  return choices(
    offers,
    offersPassing(offers, filterWithout(filter, 'regions')),
    listed => listed.region,
    filter.regions ?? [],
    countryName,
  )
}

function choices(
  all: readonly ListedOffer[],
  passed: readonly ListedOffer[],
  read: (listed: ListedOffer) => string | undefined,
  chosen: readonly string[],
  name = (value: string) => value,
): Choice[] {
  const counts = new Map<string, number>(chosen.map(value => [value, 0]))
  for (const listed of all) {
    const value = read(listed)
    if (value !== undefined) counts.set(value, 0)
  }
  for (const listed of passed) {
    const value = read(listed)
    if (value !== undefined) counts.set(value, (counts.get(value) ?? 0) + 1)
  }
  const collator = new Intl.Collator('en', { numeric: true })
  return [...counts]
    .map(([value, count]) => ({ value, count }))
    .sort((a, b) => collator.compare(name(a.value), name(b.value)))
}
