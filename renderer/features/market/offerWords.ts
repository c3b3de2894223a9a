import { describedCapabilities } from '#shared/account/capabilities.ts'
import { rate } from '#shared/format/money.ts'
import { gpuWords, named } from '#shared/format/name.ts'
import { count, reliability, tenths } from '#shared/format/size.ts'
import type { ListedOffer } from '#shared/market/catalogue.ts'
import type { FilterPart } from '#shared/market/filter.ts'
import {
  type FurtherFilter,
  furtherFilters,
  furtherNames,
  furtherParts,
  isExact,
  shownFigure,
} from '#shared/market/further-filters.ts'
import type { OfferView, PricedOffer } from '#shared/market/offer.ts'
import { offerColumns } from '#shared/market/offer-columns.ts'
import type { ListedColumn } from '#shared/market/offer-field.ts'
import type { OfferFilter } from '#shared/market/offer-query.ts'
import { offerName } from '#shared/market/offer-words.ts'
import { placeName, placeWords } from '#shared/market/place.ts'
import { defaultReliability } from '#shared/market/rental-defaults.ts'
import type { Micros } from '#shared/spending/money.ts'

/** The name of an offer's button: `Rent 1 × H100 SXM, $1.719/h, Sweden`. */
export function rentName(listed: ListedOffer, place: string | undefined): string {
  const { price } = listed
  return [`Rent ${offerName(listed)}`, price === undefined ? undefined : rate(price), place]
    .filter(part => part !== undefined)
    .join(', ')
}

/** An offer in a line: `2 × H100 SXM, $1.710 per GPU-hour, score 395, Norway, 99.6% reliable`. */
export function offerSentence({ offer, pricePerGpu }: ListedOffer): string {
  const { score, gpuCount = 1, location, reliability: share } = offer
  return [
    gpuWords(offer),
    pricePerGpu === undefined ? undefined : `${rate(pricePerGpu).replace('/h', '')} per GPU-hour`,
    score === undefined ? undefined : `score ${count(score / gpuCount)}`,
    location === undefined ? undefined : placeName(location),
    share === undefined ? undefined : `${reliability(share)} reliable`,
  ]
    .filter(part => part !== undefined)
    .join(', ')
}

/** Hosts that the usual search leaves out are marked. */
export function hasLowReliability({ reliability }: OfferView): boolean {
  return reliability !== undefined && reliability < defaultReliability
}

/** The name of a part of the filter, and what to put before its value. */
export const partNames: Record<FilterPart, string> = {
  gpus: 'GPU',
  count: 'Count',
  price: 'Up to',
  regions: 'Place',
  text: 'Text',
  ...furtherNames,
}

/** A filter part's value; `any` if unset. */
export function partWords(filter: OfferFilter, part: FilterPart): string {
  switch (part) {
    case 'gpus':
      return listWords(filter.gpus)
    case 'regions':
      return listWords(filter.regions && placeWords(filter.regions))
    case 'count':
      return countWords(filter)
    case 'price':
      return filter.priceTo === undefined ? 'any price' : rate(filter.priceTo * 1_000_000)
    case 'text':
      return filter.text ? `“${filter.text}”` : 'any'
    default:
      return furtherValue(furtherFilters[part], filter)
  }
}

function listWords(values: readonly string[] = []): string {
  return values.length === 0 ? 'any' : named(values, { most: 1, last: ', ' })
}

function countWords({ countFrom, countTo }: OfferFilter): string {
  if (countFrom === undefined) return countTo === undefined ? 'any' : `up to ${countTo}`
  if (countTo === undefined) return `${countFrom}+`
  return countFrom === countTo ? `${countFrom}` : `${countFrom}–${countTo}`
}

function furtherValue(further: FurtherFilter, filter: OfferFilter): string {
  if (further.kind === 'only') return filter[further.key] ? 'only' : 'any'
  const figure = shownFigure(further, filter)
  if (figure === undefined) return 'any'
  const words = further.unit === '%' ? `${figure}%` : [figure, further.unit].filter(Boolean).join(' ')
  return isExact(further, filter) ? words : `${words}+`
}

/** An offer's values of what the filter asks for, for a row that has no columns for them: `4.1 Gb/s`, `64 GB RAM`. */
export function askedValues(listed: ListedOffer, filter: OfferFilter, shown: readonly string[]): string[] {
  return furtherParts.flatMap(part => {
    const further = furtherFilters[part]
    if (further.kind === 'only' || filter[further.key] === undefined || shown.includes(part)) return []
    const value = further.value(listed)
    if (value === undefined) return []
    if (further.words) return [further.words(value)]
    const { words, unit } =
      (offerColumns as Partial<Record<FilterPart, ListedColumn<PricedOffer>>>)[part] ?? {}
    return words && unit ? [`${words(value)} ${unit}`] : []
  })
}

/** A name within a sentence: `direct ports`, but `GPU`. */
export function inSentence(name: string): string {
  return /^[A-Z][a-z]/.test(name) ? name.charAt(0).toLowerCase() + name.slice(1) : name
}

/** `120 of 4,048 characters`, of a start script. */
export function startScriptLength(script: string, { longestStartScript } = describedCapabilities): string {
  return `${count(script.length)} of ${count(longestStartScript)} characters`
}

/** Bids from so many times the lowest are asked about: a slip of the point makes ten. */
const unusual = 3

/** The question about a bid far above the minimum, probably a typo; undefined for others. */
export function highBid(bid: Micros | undefined, lowest: Micros | undefined): string | undefined {
  if (bid === undefined || lowest === undefined || lowest <= 0 || !(bid > lowest * unusual)) return undefined
  const times = bid / lowest
  return `That’s ${times < 10 ? tenths(times) : count(times)} × the minimum bid of ${rate(lowest)}. You pay your full bid.`
}
