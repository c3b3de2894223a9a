import { isDeepStrictEqual } from 'node:util'
import type { CallOptions } from '#service/http/operation.ts'
import type { Offer, Offers } from '#service/offers.ts'
import { ServiceError } from '#service/service-error.ts'
import { activeParts, strictest } from '#shared/market/filter.ts'
import { furtherConditions } from '#shared/market/further-filters.ts'
import type { OfferView } from '#shared/market/offer.ts'
import type { ExtraFilters, OfferFilter, OfferQuery } from '#shared/market/offer-query.ts'
import { countries, isCountry, worldRegions } from '#shared/market/place.ts'
import { readSearch, searchWords } from '#shared/market/search-text.ts'
import { offerView, searchFor } from './offer-view.ts'

/** The result of a search of the market. */
export interface FoundOffers {
  offers: OfferView[]
  /** The number of offers that the service lists at most, where it listed fewer than requested. */
  cap?: number
}

/** Numbers at which services may truncate a list. An answer of another length is complete. */
const likelyCaps: ReadonlySet<number> = new Set([
  10, 16, 20, 25, 32, 50, 64, 100, 128, 200, 250, 256, 500, 1000,
])

/**
 * The offers of a query, cheapest first. Where the service truncates its list, the most expensive ones are added, and
 * the cheapest that match the filter, so that the cap hides neither.
 */
export async function findOffers(
  service: Pick<Offers, 'search'>,
  query: OfferQuery,
  filter: OfferFilter,
  options?: CallOptions,
): Promise<FoundOffers> {
  const search = searchFor(query)
  const cheapest = await service.search(search, options)
  if (!mayBeCutOff(cheapest, query.limit)) return { offers: views(cheapest) }
  const dearest = await service.search({ ...search, order: [['dph_total', 'desc']] }, options)
  const knownIds = new Set(cheapest.map(({ id }) => id))
  if (dearest.every(({ id }) => knownIds.has(id))) return { offers: views(cheapest) }
  const listed = [...cheapest, ...dearest]
  const narrow = activeParts(filter).length > 0
  const matching = narrow ? await searchMatching(service, query, filter, listed, options) : []
  return { offers: views([...listed, ...matching]), cap: cheapest.length }
}

/** Whether the service may have more offers than it listed, though Berth requested more. */
export function mayBeCutOff({ length }: readonly Offer[], limit = Number.POSITIVE_INFINITY): boolean {
  return length < limit && likelyCaps.has(length)
}

/**
 * The offers that may match a filter. Services have no text search, so a text is searched as names of GPUs. Where no
 * GPU listed so far has one of its words, the names that it may be part of come first, and alone: a whole family, as
 * all RTX, would fill the list with its cheapest.
 */
async function searchMatching(
  service: Pick<Offers, 'search'>,
  query: OfferQuery,
  filter: OfferFilter,
  listed: readonly Offer[],
  options: CallOptions | undefined,
): Promise<Offer[]> {
  const { rest } = textMeaning(filter.text ?? '')
  if (filter.gpus || rest.length === 0) return searchNarrowed(service, query, filter, options)
  const names = [...new Set(listed.flatMap(({ gpu_name: name }) => name ?? []))]
  const has = (name: string, word: string) => name.toLowerCase().includes(word)
  const words = rest.filter(word => names.some(name => has(name, word)))
  const named = words.length === 0 ? [] : names.filter(name => words.every(word => has(name, word)))
  const likely = likelyNames(rest, names)
  if (words.length < rest.length && likely.length > 0) {
    const found = await searchNarrowed(service, query, { ...filter, gpus: likely }, options)
    if (found.length > 0 || named.length === 0) return found
  }
  return searchNarrowed(service, query, { ...filter, gpus: [...new Set([...named, ...likely])] }, options)
}

/** Characters of a text that may be a GPU's name; a longer one is none, and would make a long request. */
const longestName = 40

/** The names that a GPU may have, by how the listed ones begin and end: `RTX 4090` and `RTX 4090 Ti` for 4090. */
function likelyNames(words: readonly string[], names: readonly string[]): string[] {
  const parts = names.map(name => name.split(' '))
  const spelled = new Map(parts.flat().map(part => [part.toLowerCase(), part]))
  const inCapitals = words.map(word => spelled.get(word) ?? word.toUpperCase()).join(' ')
  const asNames = words
    .map(word => spelled.get(word) ?? word.charAt(0).toUpperCase() + word.slice(1))
    .join(' ')
  const several = parts.filter(({ length }) => length > 1)
  const heads = new Set(several.map(([head = '']) => head).filter(head => /^[a-z]+$/i.test(head)))
  const tails = new Set(several.map(part => part.at(-1) ?? '').filter(tail => /^[a-z]/i.test(tail)))
  const spellings = [...new Set([inCapitals, asNames])].filter(({ length }) => length <= longestName)
  return spellings.flatMap(text =>
    ['', ...heads].flatMap(head => ['', ...tails].map(tail => `${head} ${text} ${tail}`.trim())),
  )
}

/**
 * The offers of a query that may match a filter, as far as the service can apply it; the page filters them again. If
 * the service refuses a condition that not every deployment knows, or finds nothing, it is searched again without it.
 */
export async function searchNarrowed(
  service: Pick<Offers, 'search'>,
  query: OfferQuery,
  filter: OfferFilter,
  options?: CallOptions,
): Promise<Offer[]> {
  const whole = conditionsOf(query, filter, false)
  const common = conditionsOf(query, filter, true)
  if (!isDeepStrictEqual(whole, common)) {
    const found = await searchUnlessRefused(service, query, whole, options)
    if (found && found.length > 0) return found
  }
  const found = await searchUnlessRefused(service, query, common, options)
  return found ?? service.search(searchFor(query), options)
}

async function searchUnlessRefused(
  service: Pick<Offers, 'search'>,
  query: OfferQuery,
  conditions: ExtraFilters,
  options: CallOptions | undefined,
): Promise<Offer[] | undefined> {
  // The page does not check the query's own conditions again, so these win where both are about one field.
  const fields = Object.entries({ ...query.extra, ...conditions })
  const extra = Object.fromEntries(
    fields.map(([field, condition]) => [field, { ...condition, ...query.extra?.[field] }]),
  )
  try {
    return await service.search(searchFor({ ...query, extra }), options)
  } catch (error) {
    if (error instanceof ServiceError && (error.status === 400 || error.status === 422)) return undefined
    throw error
  }
}

/** A filter as conditions of the service, none stricter than it; `common`: only those that all deployments know. */
function conditionsOf({ type }: OfferQuery, chosen: OfferFilter, common: boolean): ExtraFilters {
  const filter = strictest(chosen, readSearch(chosen.text ?? '').filter)
  const { gpus, countFrom, countTo, priceTo, regions } = filter
  const [gpu, ...others] = gpus ?? []
  // Not every deployment has these fields, and the text's meaning is a guess.
  const { geolocation, ...meant } = common ? {} : textMeaning(filter.text ?? '').conditions
  const places = regions === undefined ? geolocation : regions.every(isCountry) ? { in: regions } : undefined
  return {
    ...meant,
    ...(gpu === undefined ? {} : { gpu_name: others.length === 0 ? { eq: gpu } : { in: [gpu, ...others] } }),
    ...countCondition(countFrom, countTo),
    // The listed price of a bid is the bid and the disk.
    ...(priceTo === undefined ? {} : { [type === 'bid' ? 'min_bid' : 'dph_total']: { lte: priceTo } }),
    // Some deployments compare the country's code, others the displayed text.
    ...(common || places === undefined ? {} : { geolocation: places }),
    ...furtherConditions(filter, common),
  }
}

function countCondition(from: number | undefined, to: number | undefined): ExtraFilters {
  if (from === undefined && to === undefined) return {}
  if (from !== undefined && from === to) return { num_gpus: { eq: from } }
  return { num_gpus: { gte: from, lte: to } }
}

/** Each offer once, as it was listed last, cheapest first. */
function views(offers: readonly Offer[]): OfferView[] {
  const once = [...new Map(offers.map(offer => [offer.id, offer])).values()]
  const price = ({ dph_total, dph_base }: Offer) => dph_total ?? dph_base ?? Number.POSITIVE_INFINITY
  return once.sort((a, b) => price(a) - price(b)).map(offerView)
}

/** The meaning of a free text, in the service's terms. */
interface TextMeaning {
  /** Number of GPUs, VRAM, place and machine, as conditions of the service. */
  conditions: ExtraFilters
  /** The other words: a GPU's name, a CPU, a place. */
  rest: string[]
}

/** Reads `8 × H100 80 GB Sweden` as eight GPUs of 80 GB in SE, and the rest `h100`. */
export function textMeaning(text: string): TextMeaning {
  const conditions: ExtraFilters = {}
  const all = readSearch(text).words
  const place = placesByWords().find(({ words }) => words.every(word => all.includes(word)))
  if (place) conditions['geolocation'] = { in: [...place.codes] }
  const rest = all.filter(word => {
    if (place?.words.includes(word)) return false
    const [, number, unit] = /^(\d{1,9})(×|gb)?$/.exec(word) ?? []
    const value = Number(number)
    if (unit === '×') conditions['num_gpus'] = { eq: value }
    else if (unit === 'gb') conditions['gpu_ram'] = { gte: (value - 0.5) * 1024, lt: (value + 0.5) * 1024 }
    // Shorter numbers are more likely part of a GPU's name, as in RTX 4090.
    else if (number !== undefined && number.length > 4) conditions['machine_id'] = { eq: value }
    else return true
    return false
  })
  return { conditions, rest }
}

let known: { codes: readonly string[]; words: string[] }[] | undefined
/** All countries and parts of the world with the words of their names; longer names first: one may be part of another. */
function placesByWords() {
  known ??= [
    ...[...countries()].map(([name, code]) => ({ codes: [code], words: searchWords(name) })),
    ...worldRegions.map(({ name, countries }) => ({ codes: countries, words: searchWords(name) })),
    ...worldRegions
      .filter(({ name }) => name === 'European Union')
      .map(({ countries }) => ({ codes: countries, words: ['eu'] })),
  ].sort((a, b) => b.words.length - a.words.length)
  return known
}
