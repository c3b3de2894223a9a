import * as Type from 'typebox'
import { listAnswer, recordShape } from './http/answer.ts'
import { type CallOptions, type Operation, operation, type Send } from './http/operation.ts'

const moment = Type.Optional(Type.Union([Type.Number(), Type.Null()]))

/** A part of a row. */
const item = Type.Object({
  /** `gpu`, `disk`, `bwu` (upload) or `bwd` (download). */
  type: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  /** Epoch seconds. */
  start: moment,
  end: moment,
  /** Dollars. */
  amount: Type.Optional(Type.Union([Type.Number(), Type.Null()])),
})

const rowShape = recordShape(
  {},
  {
    /** Epoch seconds. */
    start: Type.Number(),
    end: Type.Number(),
    /** For charges `instance`, `volume` or `serverless`; for invoices `credit`, `transfer`, `refund` and others. */
    type: Type.String(),
    /** For charges: the charged item, such as `instance-123`. */
    source: Type.String(),
    /** Dollars; for an invoice negative if it is a payment to the account. */
    amount: Type.Number(),
    items: Type.Array(item),
  },
)

/** A row of charges or invoices, in the form known from deployments. */
export type BillingRow = NonNullable<typeof rowShape.record>

interface Rows {
  results: BillingRow[]
  /** Rows that could not be read. */
  unread?: readonly unknown[]
  next_token?: unknown
}

const listCharges = operation(
  'GET',
  '/api/v0/charges/',
  'read',
  listAnswer('results', rowShape, { allowNone: true }),
  { size: 'list', extra: 'collection' },
)

const listInvoices = operation(
  'GET',
  '/api/v1/invoices/',
  'read',
  listAnswer('results', rowShape, { allowNone: true }),
  { size: 'list', extra: 'collection' },
)

/** The most pages to follow, in case the tokens never end. */
const mostPages = 40

/** Rows, and whether they are all: not where some could not be read, or their pages never ended. */
interface BillingRows {
  rows: readonly BillingRow[]
  whole: boolean
}

/**
 * Charges and payments (known from deployments; elsewhere `not_supported`, `forbidden` or `refused`). Every method
 * throws ServiceError. `from` and `to` in epoch seconds.
 */
export function charges(send: Send) {
  async function allPages(
    operation: Operation<Rows>,
    query: Record<string, string>,
    options?: CallOptions,
  ): Promise<BillingRows> {
    const rows: BillingRow[] = []
    let isRead = true
    let token = ''
    for (let page = 0; page < mostPages; page += 1) {
      const pageQuery = token === '' ? query : { ...query, after_token: token }
      const { results, next_token, unread = [] } = await send(operation, { query: pageQuery }, options)
      rows.push(...results)
      isRead &&= unread.length === 0
      const next = typeof next_token === 'number' || typeof next_token === 'string' ? String(next_token) : ''
      if (next === '') return { rows, whole: isRead }
      if (next === token) break
      token = next
    }
    return { rows, whole: false }
  }

  const within = (field: string, from: number, to: number) =>
    JSON.stringify({ [field]: { gte: from, lte: to } })
  return {
    /** Charges between two moments. 1 request a second. */
    list: (from: number, to: number, options?: CallOptions) =>
      allPages(listCharges, { select_filters: within('day', from, to), limit: '500' }, options),
    /** Payments and refunds between two moments. 1 request in 3 seconds. */
    invoices: (from: number, to: number, options?: CallOptions) =>
      allPages(listInvoices, { select_filters: within('when', from, to), limit: '60' }, options),
  }
}
