import * as Type from 'typebox'
import { type LooseConfirmation, listAnswer, looseConfirmation, Moment, recordShape } from './http/answer.ts'
import { type CallOptions, type Operation, operation, type Send } from './http/operation.ts'

const increaseShape = recordShape(
  {
    pending_price_increase_id: Type.Integer(),
    /** The instance. */
    contract_id: Type.Integer(),
  },
  {
    /** Dollars per GPU and second. A price without a new value does not change. */
    old_gpu_costpersec: Type.Number(),
    new_gpu_costpersec: Type.Number(),
    /** Dollars per GB and second. */
    old_disk_ram_costpersec: Type.Number(),
    new_disk_ram_costpersec: Type.Number(),
    /** Dollars per GB sent, and received. */
    old_bwu_cost: Type.Number(),
    new_bwu_cost: Type.Number(),
    old_bwd_cost: Type.Number(),
    new_bwd_cost: Type.Number(),
    /** 0 to 1. */
    old_platform_fee: Type.Number(),
    new_platform_fee: Type.Number(),
    /** The end of the old prices, and the end of the contract at the new ones. */
    contract_end_date: Moment,
    ask_end_date: Moment,
    created_at: Moment,
  },
)

/** A host's request for higher prices, from the end of an instance's contract on. */
export type PriceIncrease = NonNullable<typeof increaseShape.record>

const list = operation(
  'GET',
  '/api/v0/instances/pending-price-increases/',
  'read',
  listAnswer('pending_price_increases', increaseShape),
  { size: 'list', extra: 'collection' },
)

const accept = operation('PUT', '/api/v0/instances/accept-price-increase/', 'harmless', looseConfirmation, {
  extra: 'item',
})

const reject: Operation<LooseConfirmation> = { ...accept, path: '/api/v0/instances/reject-price-increase/' }

/** Hosts' requests, and the user's answers (known from deployments). Every method throws ServiceError. */
export function priceIncreases(send: Send) {
  const answer = async (operation: typeof accept, id: number, options?: CallOptions) => {
    // The service refuses any other field.
    await send(operation, { body: { pending_price_increase_id: id } }, options)
  }
  return {
    /** The unanswered requests; `whole` is false if the service has truncated the list. */
    list: async (options?: CallOptions) => {
      const { pending_price_increases, truncated } = await send(list, {}, options)
      return { increases: pending_price_increases, whole: truncated !== true }
    },
    /** Accepts. `not_found`, or `refused` with 409, if it no longer waits for an answer. */
    accept: (id: number, options?: CallOptions) => answer(accept, id, options),
    /** Refuses. Fails like `accept`. */
    reject: (id: number, options?: CallOptions) => answer(reject, id, options),
  }
}
