import { figure } from '../format/size.ts'
import { type FieldsWith, fieldsWith, type LeastKey, type OnlyKey, type PricedOffer } from './offer.ts'
import type { MinimumFilter, PropertyFilter } from './offer-field.ts'
import type { ExtraFilters, OfferFilter } from './offer-query.ts'

/** A filter for a minimum of the offer's `value`. */
export type LeastFilter = MinimumFilter & {
  readonly key: LeastKey
  readonly value: (listed: PricedOffer) => number | undefined
}
type OnlyFilter = PropertyFilter<PricedOffer['offer']> & { readonly key: OnlyKey }
export type FurtherFilter = LeastFilter | OnlyFilter

export type FurtherPart = FieldsWith<'filter'>

/** Those that most people set; the others follow in the order of the fields. */
const first: readonly FurtherPart[] = ['memory', 'down', 'reliability', 'disk']
const filters = fieldsWith('filter').map(
  ([part, { filter, value }]) => [part, { ...filter, value } as FurtherFilter] as const,
)

export const furtherFilters = Object.fromEntries(filters) as Readonly<Record<FurtherPart, FurtherFilter>>
export const furtherParts: readonly FurtherPart[] = [...new Set([...first, ...filters.map(([part]) => part)])]

/** The filter keys and the name of each part. */
export const furtherKeys = eachPart(further =>
  further.kind === 'least' && further.exact ? [further.key, further.exact.key] : [further.key],
)
export const furtherNames = eachPart(({ name }) => name)

function eachPart<T>(read: (further: FurtherFilter) => T): Record<FurtherPart, T> {
  return Object.fromEntries(furtherParts.map(part => [part, read(furtherFilters[part])])) as Record<
    FurtherPart,
    T
  >
}

export function isFurther(part: string): part is FurtherPart {
  return Object.hasOwn(furtherFilters, part)
}

/** One test for each of these filters that is set. An offer without the value does not pass. */
export function furtherTests(filter: OfferFilter): ((listed: PricedOffer) => boolean)[] {
  return furtherParts.flatMap(part => {
    const further = furtherFilters[part]
    if (further.kind === 'only')
      return filter[further.key] === undefined ? [] : ({ offer }) => further.is(offer) === true
    const [least, most] = [leastInField(further, filter), mostInField(further, filter)]
    return [
      ...(least === undefined
        ? []
        : [(listed: PricedOffer) => (further.value(listed) ?? Number.NEGATIVE_INFINITY) >= least]),
      ...(most === undefined
        ? []
        : [(listed: PricedOffer) => (further.value(listed) ?? Number.POSITIVE_INFINITY) <= most]),
    ]
  })
}

/** The same as conditions for the service; `common` leaves out fields that only some deployments have. */
export function furtherConditions(filter: OfferFilter, common: boolean): ExtraFilters {
  const conditions: ExtraFilters = {}
  for (const part of furtherParts) {
    const further = furtherFilters[part]
    if (common && further.uncommon) continue
    if (further.kind === 'only') {
      if (filter[further.key] !== undefined) conditions[further.field] = { eq: true }
    } else {
      const [least, most] = [leastInField(further, filter), mostInField(further, filter)]
      if (least !== undefined || most !== undefined)
        conditions[further.field] = {
          ...(least !== undefined && { gte: least }),
          ...(most !== undefined && { lte: most }),
        }
    }
  }
  return conditions
}

function leastInField({ key, inField = value => value }: LeastFilter, filter: OfferFilter) {
  const value = filter[key]
  return value === undefined ? undefined : inField(value)
}

function mostInField({ exact }: LeastFilter, filter: OfferFilter) {
  const value = exact && filter[exact.key]
  return value === undefined ? undefined : exact?.inField(value)
}

/** Whether the filter asks for exactly its value. */
export function isExact({ key, exact }: LeastFilter, filter: OfferFilter): boolean {
  return exact !== undefined && filter[key] !== undefined && filter[exact.key] === filter[key]
}

/** The filter's displayed value: `98.5` for a share of 0.985. */
export function shownValue({ key, scale = 1 }: LeastFilter, filter: OfferFilter): number | undefined {
  const value = filter[key]
  return value === undefined ? undefined : Number((value * scale).toFixed(4))
}

/** The same as text: `98.5`, `1,000`. */
export function shownFigure(further: LeastFilter, filter: OfferFilter): string | undefined {
  const value = shownValue(further, filter)
  return value === undefined ? undefined : figure(value, further.digits ?? 0)
}

/** The filter's value from the displayed one. */
export function fromShown({ scale = 1 }: LeastFilter, shown: number | undefined): number | undefined {
  return shown === undefined ? undefined : Number((Number(shown.toFixed(4)) / scale).toFixed(6))
}

/** The filter's condition for a sentence: `at least 80 GB per GPU`. */
export function furtherWords(part: FurtherPart, filter: OfferFilter): string {
  const further = furtherFilters[part]
  if (further.kind === 'only') return further.requirement
  const figure = shownFigure(further, filter) ?? '0'
  return isExact(further, filter) ? `exactly ${figure} ${further.unit ?? ''}` : further.requirement(figure)
}
