import { invalidArgs } from '#simulator/errors.ts'
import { isObject, type JsonObject } from '#simulator/fields.ts'

export type FieldType = 'number' | 'string' | 'boolean' | 'number or null'
type Scalar = number | string | boolean | null
type Test = (value: Scalar) => boolean

/** One condition on one field of a record. */
export interface Condition {
  field: string
  test: Test
}

const comparisons: Record<string, (value: Scalar, bound: Scalar) => boolean> = {
  eq: (value, bound) => value === bound,
  neq: (value, bound) => value !== bound,
  lt: (value, bound) => value !== null && bound !== null && value < bound,
  lte: (value, bound) => value !== null && bound !== null && value <= bound,
  gt: (value, bound) => value !== null && bound !== null && value > bound,
  gte: (value, bound) => value !== null && bound !== null && value >= bound,
}

/**
 * Reads filters of the shape `{field: {operator: value}}`; several operators on a field must all hold.
 * Throws 400 `invalid_args` for an unknown field or operator and for a value of another type than the field.
 */
export function readFilters(filters: JsonObject, fields: ReadonlyMap<string, FieldType>): Condition[] {
  return Object.entries(filters).flatMap(([field, operators]) => {
    const type = fields.get(field)
    if (!type) throw invalidArgs(`There is no field ${field} to filter by.`)
    if (!isObject(operators)) throw invalidArgs(`The filter on ${field} must be an object {operator: value}.`)
    return Object.entries(operators).map(([operator, bound]) => ({
      field,
      test: readTest(field, type, operator, bound),
    }))
  })
}

function readTest(field: string, type: FieldType, operator: string, bound: unknown): Test {
  if (operator === 'in' || operator === 'notin') {
    if (!Array.isArray(bound)) throw invalidArgs(`${field}: ${operator} takes an array.`)
    const members = new Set(bound.map(member => readScalar(field, type, member)))
    return operator === 'in' ? value => members.has(value) : value => !members.has(value)
  }
  const compare = Object.hasOwn(comparisons, operator) ? comparisons[operator] : undefined
  if (!compare) throw invalidArgs(`${field}: there is no operator ${operator}.`)
  const scalar = readScalar(field, type, bound)
  return value => compare(value, scalar)
}

function readScalar(field: string, type: FieldType, value: unknown): Scalar {
  if (value === null && type === 'number or null') return value
  if (typeof value === 'number' && type.startsWith('number') && Number.isFinite(value)) return value
  if (typeof value === 'string' && type === 'string') return value
  if (typeof value === 'boolean' && type === 'boolean') return value
  throw invalidArgs(`${field} is compared with a ${type}.`)
}
