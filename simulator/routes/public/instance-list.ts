import { refusal } from '#simulator/errors.ts'
import { isObject } from '#simulator/fields.ts'
import type { ApiRequest } from '#simulator/http/route.ts'
import { compare, type Keys, keysOf, type Order, readFilters, readOrder, selectColumns } from './columns.ts'
import { invalidRequest, type Row } from './filters.ts'
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
  const matches = readFilters(query, field => stored.has(field))
  const order = readOrder(query.get('order_by'), field => stored.has(field))
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

function labelCounts(rows: readonly Row[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { label } of rows) {
    const name = typeof label === 'string' ? label : ''
    counts[name] = (counts[name] ?? 0) + 1
  }
  return counts
}
