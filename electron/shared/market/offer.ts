import type { Field } from './offer-field.ts'
import { gpuFields, type OfferedGpus, type Priced } from './offer-gpu-fields.ts'
import { machineFields, type OfferedMachine } from './offer-machine-fields.ts'

/** One offer. Fields that the service leaves out are absent. */
export interface OfferView extends OfferedGpus, OfferedMachine {}
export type PricedOffer = Priced<OfferView>

/** All fields of an offer: whoever shows, sorts, filters or finds offers reads their parts. */
const fields = { ...gpuFields, ...machineFields } satisfies Record<string, Field<PricedOffer>>
type Fields = typeof fields
type OfferField = Field<PricedOffer>

/** The names of the fields with that part. */
export type FieldsWith<Part extends keyof OfferField> = {
  [Name in keyof Fields]: Fields[Name] extends Record<Part, unknown> ? Name : never
}[keyof Fields]

type AnyFilter = {
  [Name in keyof Fields]: Fields[Name] extends { filter: infer Filter } ? Filter : never
}[keyof Fields]
/** The keys of a filter for minimums, and of one for properties. */
export type LeastKey = Extract<AnyFilter, { kind: 'least' }>['key']
export type OnlyKey = Extract<AnyFilter, { kind: 'only' }>['key']

/** The fields with that part, by name, in their order. */
export function fieldsWith<Part extends keyof OfferField>(part: Part) {
  type With = OfferField & { [Key in Part]-?: NonNullable<OfferField[Key]> }
  return Object.entries<OfferField>(fields).filter(
    (entry): entry is [FieldsWith<Part>, With] => part in entry[1],
  )
}
