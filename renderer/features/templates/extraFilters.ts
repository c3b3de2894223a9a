import * as v from 'valibot'
import { figure } from '#shared/format/size.ts'
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

/** A field of the service in words: its name, and how many of it are one of the unit that is shown. */
interface FieldWords {
  name: string
  unit?: string
  per?: number
}
const fields: Readonly<Record<string, FieldWords>> = {
  ...Object.fromEntries(
    further.map(each => [
      each.field,
      each.kind === 'least' ? { name: each.name, unit: each.unit, per: perUnit(each) } : { name: each.name },
    ]),
  ),
  gpu_name: { name: 'GPU' },
  num_gpus: { name: 'GPUs' },
  dph_total: { name: 'Price', unit: '$/h' },
  compute_cap: { name: 'Compute capability', per: 100 },
  cpu_cores_effective: { name: 'CPU cores' },
  disk_bw: { name: 'Disk', unit: 'MB/s' },
  dlperf: { name: 'Score' },
  driver_version: { name: 'Driver' },
  geolocation: { name: 'Place' },
  verified: { name: 'Verified' },
}

function perUnit({ unit, inField, scale = 1 }: LeastFilter): number {
  if (!inField) return 1 / scale
  return unit === 'days' ? 86_400 : 1024
}

function valueWords(value: unknown, { unit, per = 1 }: FieldWords): string {
  if (typeof value !== 'number') return String(value)
  return [figure(value / per, per === 1024 ? 0 : 2), unit].filter(Boolean).join(' ')
}

/** Conditions in words, one each: `VRAM ≥ 12 GB`; of a field without words as it is: `bundle_id = 7`. */
export function extraWords(filters: Record<string, Record<string, unknown>>): string[] {
  return Object.entries(filters).flatMap(([field, conditions]) =>
    Object.entries(conditions).map(([operator, value]) => {
      const words = fields[field] ?? { name: field }
      const values = [value].flat().map(each => valueWords(each, words))
      return `${words.name} ${signs[operator] ?? operator} ${values.join(', ')}`
    }),
  )
}
