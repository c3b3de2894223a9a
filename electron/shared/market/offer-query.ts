import * as v from 'valibot'
import { fieldsWith, type LeastKey, type OfferView, type OnlyKey } from './offer.ts'

const scalar = v.union([v.pipe(v.string(), v.maxLength(200)), v.pipe(v.number(), v.finite()), v.boolean()])

/** Conditions on an offer's fields in the service's form, `{field: {operator: value}}` (section 4.5's operators). */
export const ExtraFilters = v.pipe(
  v.record(
    v.pipe(v.string(), v.regex(/^[a-z][a-z0-9_]{0,63}$/i, 'a field is written like cuda_max_good')),
    v.record(
      v.picklist(['eq', 'neq', 'lt', 'lte', 'gt', 'gte', 'in', 'notin']),
      v.union([scalar, v.null(), v.pipe(v.array(scalar), v.maxLength(100, 'at most 100 values'))]),
    ),
  ),
  v.check(filters => Object.keys(filters).length <= 50, 'at most 50 fields'),
  v.check(
    filters =>
      !['type', 'order', 'limit', 'allocated_storage', 'client_id'].some(name =>
        Object.hasOwn(filters, name),
      ),
    'options of a search aren’t filters',
  ),
)
export type ExtraFilters = v.InferOutput<typeof ExtraFilters>

/** The request to the service; the page filters its answer by everything else. */
export const OfferQuery = v.object({
  type: v.picklist(['on-demand', 'bid']),
  /** Only identity-checked hosts. */
  verifiedOnly: v.boolean(),
  /** GB of storage in the price. */
  storage: v.pipe(
    v.number('enter the disk in GB'),
    v.gtValue(0, 'more than 0 GB'),
    v.maxValue(100_000, 'at most 100,000 GB'),
  ),
  limit: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(20_000)),
  /** Conditions for which the page has no filter. */
  extra: v.optional(ExtraFilters),
})
export type OfferQuery = v.InferOutput<typeof OfferQuery>

const amount = (most = Number.MAX_VALUE) =>
  v.optional(v.pipe(v.number(), v.finite(), v.minValue(0), v.maxValue(most)))
const only = v.optional(v.literal(true))

/** The filters of an offer's fields, by their keys. */
type FieldFilters = { [Key in LeastKey]: ReturnType<typeof amount> } & { [Key in OnlyKey]: typeof only }
const fieldFilters = Object.fromEntries(
  fieldsWith('filter').map(([, { filter }]) => [
    filter.key,
    filter.kind === 'only' ? only : amount(filter.most && filter.most / (filter.scale ?? 1)),
  ]),
) as FieldFilters

/** The page's filters for offers, also in saved searches. Absent means any. */
export const OfferFilter = v.object({
  gpus: v.optional(v.pipe(v.array(v.pipe(v.string(), v.maxLength(100))), v.maxLength(100))),
  countFrom: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))),
  countTo: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))),
  /** Dollars per hour. */
  priceTo: amount(),
  /** Country codes; a part of the world is all of its countries. */
  regions: v.optional(v.pipe(v.array(v.pipe(v.string(), v.maxLength(100))), v.maxLength(300))),
  ...fieldFilters,
  /** GB per GPU. */
  memoryTo: amount(),
  text: v.optional(v.pipe(v.string(), v.maxLength(200))),
})
export type OfferFilter = v.InferOutput<typeof OfferFilter>

export const SavedQuery = v.object({ query: OfferQuery, filter: OfferFilter })
export type SavedQuery = v.InferOutput<typeof SavedQuery>

export interface OffersAnswer {
  offers: readonly OfferView[]
  /** Epoch milliseconds on this machine at which the service answered. */
  at: number
  /** Whether the service has, or may have, more offers. */
  limited: boolean
  /** The most offers that the service lists at a time, if fewer than requested. */
  cap?: number
}
