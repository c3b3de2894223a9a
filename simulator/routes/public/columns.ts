import { isObject } from '#simulator/fields.ts'
import { invalidRequest, type Row, readLooseFilters } from './filters.ts'

/** Reads `select_filters`. Throws 400 `invalid_request`. */
export function readFilters(
  query: URLSearchParams,
  knows: (field: string) => boolean,
): (row: Row) => boolean {
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
