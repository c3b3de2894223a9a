import * as Type from 'typebox'
import { looseList, recordShape } from './http/answer.ts'
import { type LooseConfirmation, looseConfirmation, removed } from './http/confirmation.ts'
import type { CallOptions, Operation, Send } from './http/operation.ts'

const overlayShape = recordShape(
  { overlay_id: Type.Integer(), name: Type.String() },
  {
    cluster_id: Type.Number(),
    /** Such as 10.0.0.0/24; not known before it has instances. */
    internal_subnet: Type.String(),
    /** The instances' ids. */
    instances: Type.Array(Type.Integer()),
  },
)
/** A private network of instances within one cluster of machines. */
export type Overlay = NonNullable<typeof overlayShape.record>

const list: Operation<Overlay[]> = {
  method: 'GET',
  path: '/api/v0/overlay/',
  repeat: 'read',
  answer: looseList(['overlays'], overlayShape),
  size: 'list',
  extra: 'collection',
}

const create: Operation<LooseConfirmation> = {
  method: 'POST',
  path: '/api/v0/overlay/',
  repeat: 'never',
  answer: looseConfirmation,
  extra: 'item',
}

const join: Operation<LooseConfirmation> = { ...create, method: 'PUT', repeat: 'harmless' }

const remove: Operation<LooseConfirmation> = { ...create, method: 'DELETE', repeat: 'harmless' }

/** The account's overlays (known from deployments; `not_supported` elsewhere). Every method throws ServiceError. */
export interface Overlays {
  list(options?: CallOptions): Promise<Overlay[]>
  /** The name takes small letters, digits and `-`. Some clusters refuse it. */
  create(cluster: number, name: string, options?: CallOptions): Promise<void>
  /** Adds an instance of the same cluster; one that is being rented joins by `-n NAME` in its environment. */
  join(name: string, instance: number, options?: CallOptions): Promise<void>
  /** Deletes it, and destroys every instance in it. */
  remove(id: number, options?: CallOptions): Promise<void>
}

export function overlays(send: Send): Overlays {
  return {
    list: options => send(list, {}, options),
    create: async (cluster, name, options) => {
      await send(create, { body: { cluster_id: cluster, name } }, options)
    },
    join: async (name, instance, options) => {
      await send(join, { body: { name, instance_id: instance } }, options)
    },
    remove: async (id, options) => {
      await removed(send(remove, { body: { overlay_id: id } }, options))
    },
  }
}
