import type { ListedOffer } from '../../../electron/contract/market/catalogue.ts'
import type { FilterPart } from '../../../electron/contract/market/filter.ts'
import {
  type FurtherFilter,
  furtherFilters,
  furtherNames,
  shownFigure,
} from '../../../electron/contract/market/further-filters.ts'
import type { OfferFilter, OfferView } from '../../../electron/contract/market/offer.ts'
import { countryName } from '../../../electron/contract/market/place.ts'
import { rate } from '../../words/money.ts'
import { count, gpuMemory } from '../../words/size.ts'

/** What a machine is: `2 × H100 SXM`. */
export function gpuWords({ gpuCount, gpuName }: OfferView): string {
  return `${gpuCount ?? 1} × ${gpuName ?? 'unknown GPU'}`
}

/** The name of an offer's button: `Rent 1 × H100 SXM, $1.719/h, Sweden`. */
export function rentName({ offer, price }: ListedOffer, place: string | undefined): string {
  return [`Rent ${gpuWords(offer)}`, price === undefined ? undefined : rate(price), place]
    .filter(part => part !== undefined)
    .join(', ')
}

/** From Mb/s, both in the larger one's unit: `2.9 / 4.1 Gb/s`, `90 / 20 Mb/s`. */
export function networkWords(down: number | undefined, up: number | undefined): string | undefined {
  if (down === undefined && up === undefined) return undefined
  const giga = Math.max(down ?? 0, up ?? 0) >= 1000
  const figure = (value: number | undefined) => {
    if (value === undefined) return '–'
    return giga ? (value / 1000).toFixed(1) : count(value)
  }
  return `${figure(down)} / ${figure(up)} ${giga ? 'Gb/s' : 'Mb/s'}`
}

/** From 0 to 1: `99.5 %`. Rounded down, so that nothing is called perfect that is not. */
export function reliabilityWords(reliability: number): string {
  return `${(Math.floor(reliability * 1000) / 10).toFixed(1)} %`
}

/** Hosts below this share are marked. */
const lowReliability = 0.98

export function hasLowReliability({ reliability }: OfferView): boolean {
  return reliability !== undefined && reliability < lowReliability
}

/** The VRAM of all GPUs, from MB of each: `80 GB`, `8 × 80 GB`. */
export function memoryWords(memory: number, gpuCount = 1): string {
  return gpuCount === 1 ? gpuMemory(memory) : `${gpuCount} × ${gpuMemory(memory)}`
}

/** `640 GB of VRAM in all`, where that is more than one GPU's. */
export function totalMemoryWords({ gpuMemory: memory, gpuCount = 1 }: OfferView): string | undefined {
  return memory === undefined || gpuCount === 1 ? undefined : `${gpuMemory(memory * gpuCount)} of VRAM in all`
}

/** The name of a part of the filter, and what to put before its value. */
export const partNames: Record<FilterPart, string> = {
  gpus: 'GPU',
  count: 'Count',
  price: 'Up to',
  regions: 'Region',
  text: 'Text',
  ...furtherNames,
}

/** What a part of the filter is set to; `any` when it is open. */
export function partWords(filter: OfferFilter, part: FilterPart): string {
  switch (part) {
    case 'gpus':
      return listWords(filter.gpus)
    case 'regions':
      return listWords(filter.regions?.map(countryName))
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

function listWords(values: readonly string[] | undefined): string {
  const [first, second, ...rest] = values ?? []
  if (first === undefined) return 'any'
  if (second === undefined) return first
  return rest.length === 0 ? `${first}, ${second}` : `${first} and ${rest.length + 1} more`
}

function countWords({ countFrom, countTo }: OfferFilter): string {
  if (countFrom === undefined) return countTo === undefined ? 'any' : `up to ${countTo}`
  if (countTo === undefined) return `${countFrom}+`
  return countFrom === countTo ? `${countFrom}` : `${countFrom}–${countTo}`
}

function furtherValue(further: FurtherFilter, filter: OfferFilter): string {
  if (further.kind === 'only') return filter[further.key] ? 'only' : 'any'
  const figure = shownFigure(further, filter)
  return figure === undefined ? 'any' : `${[figure, further.unit].filter(Boolean).join(' ')}+`
}

/** A name within a sentence: `direct ports`, but `GPU`. */
export function inSentence(name: string): string {
  return /^[A-Z][a-z]/.test(name) ? name.charAt(0).toLowerCase() + name.slice(1) : name
}

/** A number without the noise of binary fractions: 98.50000001 is 98.5. */
export function trimmed(value: number): string {
  return String(Number(value.toFixed(4)))
}

/** How old an answer is: `just now`, `8 seconds old`, `3 minutes old`. */
export function ageWords(seconds: number): string {
  if (seconds < 1) return 'just now'
  const whole = Math.max(0, Math.floor(seconds))
  const [size, unit] = whole < 60 ? [1, 'second'] : whole < 3600 ? [60, 'minute'] : [3600, 'hour']
  const many = Math.floor(whole / Number(size))
  return `${many} ${unit}${many === 1 ? '' : 's'} old`
}
