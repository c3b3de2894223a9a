import { invalidArgs, refusal, type ServiceError } from '../errors.ts'
import { isObject, type JsonObject } from '../fields.ts'

export type Row = Record<string, unknown>
export type RowTest = (row: Row) => boolean
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
export function readLooseFilters(filters: JsonObject, knows: (field: string) => boolean): RowTest {
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

/** Reads `select_filters`. Throws 400 `invalid_request`. */
export function readFilters(query: URLSearchParams, knows: (field: string) => boolean): RowTest {
  const filters = readJson('select_filters', query.get('select_filters'), {})
  if (!isObject(filters)) throw invalidRequest('select_filters is no object')
  return readLooseFilters(filters, knows)
}

/** A column to order by. */
export interface Order {
  field: string
  descending: boolean
}

/** The values that a row is ordered by. */
export type Keys = (string | number)[]

export function keysOf(row: Row, order: readonly Order[]): Keys {
  return order.map(({ field }) => {
    const value = row[field]
    if (typeof value === 'boolean') return Number(value)
    return typeof value === 'number' || typeof value === 'string' ? value : ''
  })
}

export function compare(left: Keys, right: Keys, order: readonly Order[]): number {
  for (const [index, { descending }] of order.entries()) {
    const a = left[index] ?? ''
    const b = right[index] ?? ''
    if (a !== b) return a < b === descending ? 1 : -1
  }
  return 0
}

/** The rows by the given order, the most important field first. */
export function sorted<Each extends Row>(rows: readonly Each[], order: readonly Order[]): Each[] {
  return rows
    .map(row => ({ row, keys: keysOf(row, order) }))
    .sort((left, right) => compare(left.keys, right.keys, order))
    .map(({ row }) => row)
}

/** Reads `order_by`. `id` always comes last, so that no two rows are equal. Throws 400 `invalid_request`. */
export function readOrder(text: string | null, knows: (field: string) => boolean): Order[] {
  const read = readJson('order_by', text, [])
  if (!Array.isArray(read)) throw invalidRequest('order_by is no array')
  const order = read.map((entry: unknown) => {
    const field = isObject(entry) ? entry['col'] : undefined
    if (typeof field !== 'string' || !knows(field))
      throw invalidRequest(`${String(field)} is not a valid sort key`)
    return { field, descending: isObject(entry) && entry['dir'] === 'desc' }
  })
  return [...order, { field: 'id', descending: false }]
}

/** The columns of `select_cols`, all by default; an unknown one is null. Throws 400 `invalid_request`. */
export function selectColumns(rows: Row[], text: string | null): Row[] {
  const columns = readJson('select_cols', text, ['*'])
  if (!Array.isArray(columns)) throw invalidRequest('select_cols is no array')
  if (columns.includes('*')) return rows
  return rows.map(row => Object.fromEntries(columns.map(name => [String(name), row[String(name)] ?? null])))
}

function readJson(name: string, text: string | null, otherwise: unknown): unknown {
  if (text === null || text === '') return otherwise
  try {
    return JSON.parse(text)
  } catch {
    throw invalidRequest(`${name} is no JSON`)
  }
}

export type FieldType = 'number' | 'string' | 'boolean' | 'number or null'
type Scalar = number | string | boolean | null
type Test = (value: Scalar) => boolean

const strictComparisons: Record<string, (value: Scalar, bound: Scalar) => boolean> = {
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
export function readStrictFilters(filters: JsonObject, fields: ReadonlyMap<string, FieldType>): RowTest {
  const tests = Object.entries(filters).flatMap(([field, operators]) => {
    const type = fields.get(field)
    if (!type) throw invalidArgs(`There is no field ${field} to filter by.`)
    if (!isObject(operators)) throw invalidArgs(`The filter on ${field} must be an object {operator: value}.`)
    return Object.entries(operators).map(([operator, bound]) => {
      const test = readTest(field, type, operator, bound)
      return (row: Row) => test(row[field] as Scalar)
    })
  })
  return row => tests.every(test => test(row))
}

function readTest(field: string, type: FieldType, operator: string, bound: unknown): Test {
  if (operator === 'in' || operator === 'notin') {
    if (!Array.isArray(bound)) throw invalidArgs(`${field}: ${operator} takes an array.`)
    const members = new Set(bound.map(member => readScalar(field, type, member)))
    return operator === 'in' ? value => members.has(value) : value => !members.has(value)
  }
  const compare = Object.hasOwn(strictComparisons, operator) ? strictComparisons[operator] : undefined
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
