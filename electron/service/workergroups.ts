import * as Type from 'typebox'
import { looseList, recordShape, singleAnswer } from './http/answer.ts'
import { type CallOptions, operation, type Send } from './http/operation.ts'

/** Section 2.9. The interface shows only the fields of a creation. */
const workergroupShape = recordShape(
  {},
  {
    id: Type.Number(),
    endpoint_name: Type.String(),
    endpoint_id: Type.Number(),
    template_hash: Type.String(),
    template_id: Type.Number(),
    search_params: Type.String(),
    launch_args: Type.String(),
    min_load: Type.Number(),
    target_util: Type.Number(),
  },
)
export type Workergroup = NonNullable<typeof workergroupShape.record>

/** The endpoint by name or id, and the workers by template or search. */
export interface WorkergroupBody {
  endpoint_name?: string
  endpoint_id?: number
  template_hash?: string
  template_id?: number
  /** Default: `verified=true rentable=true rented=false`. */
  search_params?: string
  launch_args?: string
  /** Default: 1.0. */
  min_load?: number
  target_util?: number
}

const list = operation(
  'GET',
  '/api/v0/workergroups/',
  'read',
  looseList(['workergroups', 'results'], workergroupShape),
  { size: 'list', extra: 'collection' },
)

const create = operation('POST', '/api/v0/workergroups/', 'never', singleAnswer(workergroupShape))

/** Serverless workers (section 4.6). Every method throws ServiceError. */
export function workergroups(send: Send) {
  return {
    /** All workergroups (known from deployments; `not_supported` elsewhere). */
    list: (options?: CallOptions) => send(list, {}, options),
    /** Creates a workergroup. The interface does not show the answer, so any of its fields may be missing. */
    create: (request: WorkergroupBody, options?: CallOptions) => send(create, { body: request }, options),
  }
}
