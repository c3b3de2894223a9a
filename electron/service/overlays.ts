import * as Type from 'typebox'
import { looseConfirmation, looseList, recordShape, removed } from './http/answer.ts'
import { type CallOptions, operation, type Send } from './http/operation.ts'

/** A private network of instances within one cluster of machines. */
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

const list = operation('GET', '/api/v0/overlay/', 'read', looseList(['overlays'], overlayShape), {
  size: 'list',
  extra: 'collection',
})

const create = operation('POST', '/api/v0/overlay/', 'never', looseConfirmation, { extra: 'item' })

const join = operation('PUT', '/api/v0/overlay/', 'harmless', looseConfirmation, { extra: 'item' })

const remove = operation('DELETE', '/api/v0/overlay/', 'harmless', looseConfirmation, { extra: 'item' })

/** The account's overlays (known from deployments; `not_supported` elsewhere). Every method throws ServiceError. */
export function overlays(send: Send) {
  return {
    list: (options?: CallOptions) => send(list, {}, options),
    /** The name takes small letters, digits and `-`. Some clusters refuse it. */
    create: async (cluster: number, name: string, options?: CallOptions) => {
      await send(create, { body: { cluster_id: cluster, name } }, options)
    },
    /** Adds an instance of the same cluster; one that is being rented joins by `-n NAME` in its environment. */
    join: async (name: string, instance: number, options?: CallOptions) => {
      await send(join, { body: { name, instance_id: instance } }, options)
    },
    /** Deletes it, and destroys every instance in it. */
    remove: async (id: number, options?: CallOptions) => {
      await removed(send(remove, { body: { overlay_id: id } }, options))
    },
  }
}
