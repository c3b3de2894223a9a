import { refusal, type ServiceError } from '#simulator/errors.ts'
import { isObject, type JsonObject } from '#simulator/fields.ts'

export type Row = Record<string, unknown>
type Comparison = (value: unknown, bound: unknown) => boolean

const comparisons: Record<string, Comparison> = {
  eq: same,
  neq: (value, bound) => !same(value, bound),
  lt: (value, bound) => Number(value) < Number(bound),
  lte: (value, bound) => Number(value) <= Number(bound),
  gt: (value, bound) => Number(value) > Number(bound),
  gte: (value, bound) => Number(value) >= Number(bound),
  in: (value, bound) => listOf(bound).some(member => same(value, member)),
  notin: (value, bound) => !listOf(bound).some(member => same(value, member)),
}

/**
 * Reads filters `{field: {operator: value}}` as the public deployment does: "8" is 8, "true" is true, 1 is true, and a
 * field that is null is equal to null and to false. Throws 400 `invalid_request` for an unknown field or operator.
 */
export function readLooseFilters(
  filters: JsonObject,
  knows: (field: string) => boolean,
): (row: Row) => boolean {
  const tests = Object.entries(filters).flatMap(([field, operators]) => {
    if (!knows(field)) throw invalidRequest(`${field} is not a valid search key`)
    if (!isObject(operators)) throw invalidRequest(`${field} takes {operator: value}`)
    return Object.entries(operators).map(([operator, bound]) => {
      const compare = Object.hasOwn(comparisons, operator) ? comparisons[operator] : undefined
      if (!compare) throw invalidRequest(`${operator} is not a valid operator`)
      return (row: Row) => compare(row[field], bound)
    })
  })
  return row => tests.every(test => test(row))
}

/** 400 `invalid_request` for a wrong query. */
export function invalidRequest(what: string): ServiceError {
  return refusal(400, 'invalid_request', `Error in query parameters: ${what}`)
}

function same(value: unknown, bound: unknown): boolean {
  if (typeof value === 'number') return bound !== null && value === Number(truth(bound) ?? bound)
  if (typeof value === 'boolean' || typeof bound === 'boolean')
    return String(value ?? false) === String(bound)
  return (value ?? null) === bound
}

/** A boolean, also as text. */
function truth(bound: unknown): boolean | undefined {
  return [true, false].find(known => bound === known || bound === String(known))
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [value]
}
