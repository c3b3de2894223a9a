import * as v from 'valibot'
import { furtherFilters, furtherParts, type LeastFilter } from '#shared/market/further-filters.ts'
import { ExtraFilters, OfferFilter } from '#shared/market/offer-query.ts'

/** A template's `extra_filters` as the Offers screen has them: as its own filter, and the rest for the service. */
export interface OfferFilters {
  filter: OfferFilter
  extra: ExtraFilters
  verifiedOnly?: boolean
  /** Fields whose conditions no service accepts; they are left out. */
  unread: string[]
}

/** Takes a template's machine filters apart. Conditions that mean the very same here become the page's own. */
export function readExtraFilters(filters: Record<string, Record<string, unknown>>): OfferFilters {
  const read: OfferFilters = { filter: {}, extra: {}, unread: [] }
  for (const [field, conditions] of Object.entries(filters)) {
    const rest = Object.entries(conditions).filter(
      ([operator, value]) => !takeOver(read, field, operator, value),
    )
    if (rest.length === 0) continue
    const extra = v.safeParse(ExtraFilters, { [field]: Object.fromEntries(rest) })
    if (extra.success) Object.assign(read.extra, extra.output)
    else read.unread.push(field)
  }
  return read
}

/** Whether the page's own filter expresses exactly this condition. */
function takeOver(read: OfferFilters, field: string, operator: string, value: unknown): boolean {
  const key = same[`${field} ${operator}`]
  if (key && typeof value === 'number' && v.is(OfferFilter.entries[key], value)) {
    read.filter[key] = value
    return true
  }
  if (field === 'num_gpus' && operator === 'eq' && typeof value === 'number') {
    if (!v.is(OfferFilter.entries.countFrom, value)) return false
    Object.assign(read.filter, { countFrom: value, countTo: value })
    return true
  }
  if (field === 'gpu_name' && (operator === 'eq' || operator === 'in')) {
    const names = (Array.isArray(value) ? value : [value]).filter(name => typeof name === 'string')
    if (names.length === 0 || (Array.isArray(value) && names.length !== value.length)) return false
    read.filter.gpus = names
    return true
  }
  if (field === 'verified' && operator === 'eq' && typeof value === 'boolean') {
    read.verifiedOnly = value
    return value
  }
  const only = further.find(each => each.kind === 'only' && each.field === field)
  if (only?.kind === 'only' && operator === 'eq' && value === true) {
    read.filter[only.key] = true
    return true
  }
  // Searches only ever ask for rentable machines.
  return (field === 'rentable' || field === 'rented') && operator === 'eq'
}

type NumberKey = 'countFrom' | 'countTo' | 'priceTo' | LeastFilter['key']

const further = furtherParts.map(part => furtherFilters[part])
const same: Readonly<Record<string, NumberKey>> = {
  'num_gpus gte': 'countFrom',
  'num_gpus lte': 'countTo',
  'dph_total lte': 'priceTo',
  'reliability gte': 'reliabilityFrom',
  ...Object.fromEntries(
    further.flatMap(each =>
      each.kind === 'least' && !each.inField ? [[`${each.field} gte`, each.key]] : [],
    ),
  ),
}

const signs: Record<string, string> = {
  eq: '=',
  neq: '≠',
  lt: '<',
  lte: '≤',
  gt: '>',
  gte: '≥',
  in: 'in',
  notin: 'not in',
}

/** Conditions in words, one each: `cuda_max_good ≥ 12`. */
export function extraWords(filters: Record<string, Record<string, unknown>>): string[] {
  return Object.entries(filters).flatMap(([field, conditions]) =>
    Object.entries(conditions).map(
      ([operator, value]) =>
        `${field} ${signs[operator] ?? operator} ${Array.isArray(value) ? value.join(', ') : String(value)}`,
    ),
  )
}
