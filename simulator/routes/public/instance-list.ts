import { refusal } from '../../errors.ts'
import { isObject } from '../../fields.ts'
import type { ApiRequest } from '../../http/route.ts'
import { invalidRequest, type Row, readLooseFilters } from './filters.ts'
import { listedInstance, spoilFirst, visibleInstances } from './instance-record.ts'

/** The stored fields of an instance: only these can be filtered and ordered by, not computed ones. */
const stored: ReadonlySet<string> = new Set(
  (
    'id label actual_status intended_status cur_state next_state gpu_name verification machine_id host_id ' +
    'start_date end_date image_uuid geolocation'
  ).split(' '),
)

/** Instances on a page for a limit of 0 or less. */
const PAGE_OF_NONSENSE = 5

/** `GET /api/v1/instances/`: a page, with the token of the next. Throws 400 `invalid_request`, `invalid_token`. */
export function pageOfInstances({ world, query, profile }: ApiRequest): Row {
  const matches = readConditions(query.get('select_filters'))
  const order = readOrder(query.get('order_by'))
  const limit = readLimit(query.get('limit'), profile.page)
  const all = visibleInstances(world, profile).map(instance => listedInstance(world, instance, profile))
  const matching = all
    .filter(matches)
    .sort((left, right) => compare(keysOf(left, order), keysOf(right, order), order))
  const after = readToken(query.get('after_token'), order)
  const rest = after ? matching.filter(row => compare(keysOf(row, order), after, order) > 0) : matching
  const page = (profile.v1 === 'repeats' ? matching : rest).slice(0, limit)
  const last = page.at(-1)
  const more = last !== undefined && (rest.length > limit || profile.v1 === 'repeats')
  return {
    success: true,
    instances_found: page.length,
    total_instances: matching.length,
    label_counts: labelCounts(matching),
    next_token: more ? tokenOf(keysOf(last, order), order) : null,
    instances: spoilFirst(selectColumns(page, query.get('select_cols')), profile),
  }
}

interface Order {
  field: string
  descending: boolean
}

type Keys = (string | number)[]

function keysOf(row: Row, order: readonly Order[]): Keys {
  return order.map(({ field }) => {
    const value = row[field]
    return typeof value === 'number' || typeof value === 'string' ? value : ''
  })
}

function compare(left: Keys, right: Keys, order: readonly Order[]): number {
  for (const [index, { descending }] of order.entries()) {
    const a = left[index] ?? ''
    const b = right[index] ?? ''
    if (a !== b) return a < b === descending ? 1 : -1
  }
  return 0
}

function tokenOf(keys: Keys, order: readonly Order[]): string {
  const values = Object.fromEntries(order.map(({ field }, index) => [field, keys[index]]))
  return Buffer.from(JSON.stringify({ values })).toString('base64')
}

function readToken(token: string | null, order: readonly Order[]): Keys | null {
  if (token === null) return null
  try {
    const read: unknown = JSON.parse(Buffer.from(token, 'base64').toString())
    const values = isObject(read) && isObject(read['values']) ? read['values'] : {}
    return order.map(({ field }) => {
      const value = values[field]
      if (typeof value === 'number' || typeof value === 'string') return value
      throw new SyntaxError(`The token has no ${field}.`)
    })
  } catch (error) {
    if (error instanceof SyntaxError) throw refusal(400, 'invalid_token', 'Invalid pagination token')
    throw error
  }
}

function readLimit(text: string | null, most: number): number {
  if (text === null) return most
  const limit = Number(text)
  if (!Number.isInteger(limit)) throw invalidRequest('limit is no integer')
  return limit <= 0 ? Math.min(PAGE_OF_NONSENSE, most) : Math.min(limit, most)
}

/** `id` always comes last, so that no two rows are equal. */
function readOrder(text: string | null): Order[] {
  const read = readJson('order_by', text, [])
  if (!Array.isArray(read)) throw invalidRequest('order_by is no array')
  const order = read.map((entry: unknown) => {
    const field = isObject(entry) ? entry['col'] : undefined
    if (typeof field !== 'string' || !stored.has(field))
      throw invalidRequest(`${String(field)} is not a valid sort key`)
    return { field, descending: isObject(entry) && entry['dir'] === 'desc' }
  })
  return [...order, { field: 'id', descending: false }]
}

function readConditions(text: string | null): (row: Row) => boolean {
  const filters = readJson('select_filters', text, {})
  if (!isObject(filters)) throw invalidRequest('select_filters is no object')
  return readLooseFilters(filters, field => stored.has(field))
}

function selectColumns(rows: Row[], text: string | null): Row[] {
  const columns = readJson('select_cols', text, ['*'])
  if (!Array.isArray(columns)) throw invalidRequest('select_cols is no array')
  if (columns.includes('*')) return rows
  return rows.map(row => Object.fromEntries(columns.map(name => [String(name), row[String(name)] ?? null])))
}

function labelCounts(rows: readonly Row[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { label } of rows) {
    const name = typeof label === 'string' ? label : ''
    counts[name] = (counts[name] ?? 0) + 1
  }
  return counts
}

function readJson(name: string, text: string | null, otherwise: unknown): unknown {
  if (text === null || text === '') return otherwise
  try {
    return JSON.parse(text)
  } catch {
    throw invalidRequest(`${name} is no JSON`)
  }
}
