import * as Type from 'typebox'
import { listAnswer, recordShape } from './http/answer.ts'
import type { CallOptions, Operation, Send } from './http/operation.ts'
import { sentenceFor } from './http/sentences.ts'
import { ServiceError } from './service-error.ts'

const moment = Type.Optional(Type.Union([Type.Number(), Type.Null()]))

/** One thing that a row is made of. */
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
    /** Of charges `instance`, `volume` or `serverless`; of invoices `credit`, `transfer`, `refund` and others. */
    type: Type.String(),
    /** Of charges what was charged for, such as `instance-123`. */
    source: Type.String(),
    /** Dollars; of an invoice below nothing where it was paid in. */
    amount: Type.Number(),
    items: Type.Array(item),
  },
)

/** A row of charges or of invoices, as deployments are known to tell them. */
export type BillingRow = NonNullable<typeof rowShape.record>

interface Rows {
  results: BillingRow[]
  /** Rows that could not be read. */
  unread?: readonly unknown[]
  next_token?: unknown
}

const listCharges: Operation<Rows> = {
  method: 'GET',
  path: '/api/v0/charges/',
  repeat: 'read',
  answer: listAnswer('results', rowShape),
  size: 'list',
  extra: 'collection',
}

const listInvoices: Operation<Rows> = {
  method: 'GET',
  path: '/api/v1/invoices/',
  repeat: 'read',
  answer: listAnswer('results', rowShape),
  size: 'list',
  extra: 'collection',
}

/** Pages that are followed; more of them lead nowhere. */
const mostPages = 40

/**
 * What the service charged and was paid (known from deployments; elsewhere `not_supported`, `forbidden` or `refused`).
 * Every method throws ServiceError, also where a list cannot be read to its end. `from` and `to` in epoch seconds.
 */
export interface Charges {
  /** What was charged between two moments. 1 request a second. */
  list(from: number, to: number, options?: CallOptions): Promise<BillingRow[]>
  /** What was paid in, or back, between two moments. 1 request in 3 seconds. */
  invoices(from: number, to: number, options?: CallOptions): Promise<BillingRow[]>
}

export function charges(send: Send): Charges {
  async function allPages(
    operation: Operation<Rows>,
    query: Record<string, string>,
    options?: CallOptions,
  ): Promise<BillingRow[]> {
    const rows: BillingRow[] = []
    let token: string | undefined
    for (let page = 0; page < mostPages; page += 1) {
      const asked = token === undefined ? query : { ...query, after_token: token }
      const { results, next_token, unread = [] } = await send(operation, { query: asked }, options)
      if (unread.length > 0) break
      rows.push(...results)
      if (typeof next_token !== 'string' || next_token === '') return rows
      if (next_token === token) break
      token = next_token
    }
    throw new ServiceError({ code: 'bad_answer', status: 200, ...sentenceFor('bad_answer') })
  }

  const within = (field: string, from: number, to: number) =>
    JSON.stringify({ [field]: { gte: from, lte: to } })
  return {
    list: (from, to, options) =>
      allPages(listCharges, { select_filters: within('day', from, to), limit: '500' }, options),
    invoices: (from, to, options) =>
      allPages(listInvoices, { select_filters: within('when', from, to) }, options),
  }
}
