import { refusal } from '#simulator/errors.ts'
import { isObject } from '#simulator/fields.ts'
import type { ApiRequest, Layer } from '#simulator/http/route.ts'
import { epochSeconds } from '#simulator/world/clock.ts'
import type { Instance } from '#simulator/world/instances/instance.ts'
import type { PriceIncrease } from '#simulator/world/instances/price-increases.ts'
import type { Charge, Kind } from '#simulator/world/ledger.ts'
import { dollars } from '#simulator/world/money.ts'
import type { World } from '#simulator/world/world.ts'

/** Charges and payments. */
export const billingRoutes: Layer = {
  'GET /charges/': { permission: 'billing_read', answer: charges },
  'GET /invoices/': { version: 'v1', permission: 'billing_read', answer: invoices },
  'GET /instances/pending-price-increases/': {
    permission: 'instance_read',
    answer: ({ world }) => {
      const pending = world.priceIncreases.list().map(row)
      return { success: true, count: pending.length, truncated: false, pending_price_increases: pending }
    },
  },
  'PUT /instances/accept-price-increase/': {
    permission: 'instance_write',
    answer: request => answered(request, id => request.world.priceIncreases.accept(id)),
  },
  'PUT /instances/reject-price-increase/': {
    permission: 'instance_write',
    answer: request => answered(request, id => request.world.priceIncreases.reject(id)),
  },
}

/** Seconds since 1970, both included. */
interface Range {
  from: number
  to: number
}

const words: Record<Kind, string> = { gpu: 'gpu', disk: 'disk', upload: 'bwu', download: 'bwd' }

/** One row per contract, with its charges. Throws 400 without a range. */
function charges({ world, query }: ApiRequest) {
  const filters = readFilters(query)
  const range = readRange(filters['day'])
  if (!range) throw refusal(400, null, "Must provide both 'day' gte and lte filters for instance charges")
  const type = isObject(filters['type']) ? filters['type']['in'] : undefined
  const rows = chargeRows(world, range).filter(row => !Array.isArray(type) || type.includes(row.type))
  return page(rows, query, 100, 500)
}

function chargeRows(world: World, range: Range) {
  const byContract = new Map<number, Charge[]>()
  for (const charge of world.ledger.charges(world.clock.now())) {
    if (charge.to <= range.from || charge.from >= range.to) continue
    const list = byContract.get(charge.instance_id) ?? []
    byContract.set(charge.instance_id, [...list, charge])
  }
  return [...byContract].map(([id, list]) => {
    const type = world.volumes.isVolume(id) ? 'volume' : 'instance'
    const label = world.instances.find(id)?.label ?? ''
    const items = list.map(charge => item(charge, range))
    return {
      start: Math.floor(Math.min(...items.map(({ start }) => start))),
      end: Math.floor(Math.max(...items.map(({ end }) => end))),
      type,
      source: `${type}-${id}`,
      description: `${type === 'volume' ? 'Volume' : 'Instance'} ${id} Charges`,
      amount: round(items.reduce((sum, { exact }) => sum + exact, 0)),
      metadata: label === '' ? {} : { label },
      items: items.map(({ exact: _exact, ...shown }) => shown),
    }
  })
}

/** The part of a charge within the range. */
function item(charge: Charge, { from, to }: Range) {
  const start = Math.max(charge.from, from)
  const end = Math.min(charge.to, to)
  const share = charge.to > charge.from ? (end - start) / (charge.to - charge.from) : 1
  const exact = dollars(charge.micro_dollars) * share
  const rate = dollars(charge.micro_dollars_per_hour)
  return {
    start: Math.floor(start),
    end: Math.floor(end),
    type: words[charge.kind],
    source: null,
    description: `${((end - start) / 3600).toFixed(3)} hours at $${rate.toFixed(3)}/hour`,
    amount: round(exact),
    exact,
    metadata: {},
    items: [],
  }
}

/** Payments, with negative amounts. Without a range it is 200 and no success. */
function invoices({ world, query }: ApiRequest) {
  const range = readRange(readFilters(query)['when'])
  if (!range) {
    return { success: false, error: 'Invalid date range', count: 0, total: 0, results: [], next_token: null }
  }
  const rows = world.account.payments
    .filter(({ at }) => at >= range.from && at <= range.to)
    .map(({ at, amount }, index) => ({
      start: at,
      end: at,
      type: 'credit',
      source: 'stripe',
      description: 'Manual Billing from a card ...4242',
      amount: -amount,
      metadata: { invoice_id: 2_185_000 + index, service: 'stripe_payments' },
      items: [],
    }))
  return page(rows, query, 60, 500)
}

/** A page of rows, the latest first unless `latest_first` is false. Throws 400 `invalid_token`. */
function page<Row extends { start: number }>(
  rows: Row[],
  query: URLSearchParams,
  usual: number,
  most: number,
) {
  const direction = query.get('latest_first') === 'false' ? 1 : -1
  const sorted = rows.toSorted((left, right) => (left.start - right.start) * direction)
  const from = readToken(query.get('after_token'))
  const limit = Math.max(1, Math.min(most, Number(query.get('limit') ?? usual) || usual))
  const results = sorted.slice(from, from + limit)
  const next = from + limit < sorted.length ? Buffer.from(String(from + limit)).toString('base64') : null
  return { success: true, count: results.length, total: sorted.length, next_token: next, results }
}

function readToken(token: string | null): number {
  if (token === null) return 0
  const text = Buffer.from(token, 'base64').toString()
  if (!/^\d{1,9}$/.test(text)) throw refusal(400, 'invalid_token', 'Invalid pagination token')
  return Number(text)
}

function readFilters(query: URLSearchParams): Record<string, unknown> {
  try {
    const filters: unknown = JSON.parse(query.get('select_filters') ?? '{}')
    return isObject(filters) ? filters : {}
  } catch {
    throw refusal(400, 'invalid_request', 'select_filters is no JSON')
  }
}

function readRange(value: unknown): Range | null {
  if (!isObject(value)) return null
  const from = Number(value['gte'] ?? value['gt'] ?? Number.NaN)
  const to = Number(value['lte'] ?? value['lt'] ?? Number.NaN)
  return Number.isFinite(from) && Number.isFinite(to) ? { from, to } : null
}

/** Dollars, to three digits. */
function round(amount: number): number {
  return Math.round(amount * 1000) / 1000
}

/** The body holds the id and nothing else. */
function answered({ body }: ApiRequest, answerIncrease: (id: number) => Instance) {
  const fields = body()
  const stray = Object.keys(fields.values).find(name => name !== 'pending_price_increase_id')
  if (stray !== undefined) throw fields.refuse(`extra fields not permitted: ${stray}`)
  const id = fields.integer('pending_price_increase_id')
  return { success: true, pending_price_increase_id: id, contract_id: answerIncrease(id).id }
}

/** GPUs are in dollars per GPU and second, the disk per GB and second, traffic per GB. Null means unchanged. */
function row({ id, instance, factor, created, ends }: PriceIncrease) {
  const { facts } = instance.offer
  const gpu = dollars(instance.price) / facts.num_gpus / 3600
  const disk = instance.storageCost / (720 * 3600)
  return {
    pending_price_increase_id: id,
    contract_id: instance.id,
    host_id: facts.host_id,
    new_gpu_costpersec: gpu * factor,
    new_disk_ram_costpersec: disk * factor,
    new_bwu_cost: null,
    new_bwd_cost: null,
    new_platform_fee: null,
    old_gpu_costpersec: gpu,
    old_disk_ram_costpersec: disk,
    old_bwu_cost: facts.inet_up_cost,
    old_bwd_cost: facts.inet_down_cost,
    old_platform_fee: null,
    contract_end_date: epochSeconds(instance.ends),
    ask_end_date: epochSeconds(ends),
    created_at: epochSeconds(created),
  }
}
