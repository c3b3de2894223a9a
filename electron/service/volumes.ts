import * as Type from 'typebox'
import { looseConfirmation, looseList, recordShape, removed, ServiceNumber } from './http/answer.ts'
import { type CallOptions, operation, type Send } from './http/operation.ts'

const volumeShape = recordShape(
  { id: ServiceNumber },
  {
    label: Type.String(),
    status: Type.String(),
    /** GB. */
    disk_space: Type.Number(),
    machine_id: Type.Number(),
    /** Instances that mount it: ids, or records with an id. */
    instances: Type.Array(Type.Unknown()),
    /** Dollars per hour. */
    storage_total_cost: Type.Number(),
    geolocation: Type.String(),
  },
)
/** A part of one machine's disk that outlives the instances it is mounted in. */
export type Volume = NonNullable<typeof volumeShape.record>

const list = operation('GET', '/api/v0/volumes/', 'read', looseList(['volumes'], volumeShape), {
  size: 'list',
  extra: 'collection',
})

const remove = operation('DELETE', '/api/v0/volumes/', 'harmless', looseConfirmation, { extra: 'item' })

/** The account's volumes (known from deployments; `not_supported` elsewhere). Every method throws ServiceError. */
export function volumes(send: Send) {
  return {
    /** All volumes, local and networked. 1 request in 5.5 seconds. */
    list: (options?: CallOptions) => send(list, { query: { owner: 'me', type: 'all_volume' } }, options),
    /** Deletes a volume and its data; refused while an instance, even a stopped one, mounts it. */
    remove: async (id: number, options?: CallOptions) => {
      // The documentation has it in the body, the deployment's own client in the query.
      await removed(send(remove, { body: { id }, query: { id: String(id) } }, options))
    },
  }
}
