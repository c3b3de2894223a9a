import type { Static } from 'typebox'
import * as Type from 'typebox'
import { looseList, Moment, plainAnswer, recordShape } from './http/answer.ts'
import { type CallOptions, operation, type Send } from './http/operation.ts'

/** A machine of the caller's; further fields are kept. */
const machineShape = recordShape(
  {},
  {
    id: Type.Number(),
    machine_id: Type.Number(),
    hostname: Type.String(),
    gpu_name: Type.String(),
    num_gpus: Type.Number(),
    geolocation: Type.String(),
    /** 0 to 1. */
    reliability2: Type.Number(),
    listed: Type.Boolean(),
    verification: Type.String(),
    /** What is scheduled, with its beginning in epoch seconds; empty where nothing is. */
    machine_maintenance: Type.Array(Type.Object({ start_time: Type.Optional(Type.Number()) })),
  },
)
export type HostedMachine = NonNullable<typeof machineShape.record>

const networkDiskShape = recordShape(
  {},
  {
    id: Type.Number(),
    disk_id: Type.Number(),
    mount_point: Type.String(),
    machine_id: Type.Number(),
    machine_ids: Type.Array(Type.Number()),
  },
)
export type NetworkDisk = NonNullable<typeof networkDiskShape.record>

/** A new disk or, with `disk_id`, further machines for an existing one. */
export interface NetworkDiskBody {
  mount_point: string
  machine_id?: number
  machine_ids?: readonly number[]
  disk_id?: number
}

const maintenanceShape = Type.Object({
  success: Type.Boolean(),
  /** Epoch seconds. */
  ctime: Type.Optional(Type.Number()),
  machine_id: Type.Optional(Type.Number()),
  msg: Type.Optional(Type.String()),
})
export type MaintenanceCancelled = Static<typeof maintenanceShape>

const cleanupShape = Type.Object({
  success: Type.Boolean(),
  /** Epoch seconds. */
  ctime: Type.Optional(Type.Number()),
  machine_id: Type.Optional(Type.Number()),
  user_id: Type.Optional(Type.Number()),
  /** Expired contracts removed. */
  num_deleted: Type.Integer(),
  msg: Type.Optional(Type.String()),
})
export type CleanedUp = Static<typeof cleanupShape>

const windowShape = recordShape(
  {
    machine_id: Type.Integer(),
    /** Epoch seconds. */
    start_time: Moment,
  },
  { id: Type.Integer(), duration_hours: Type.Number(), maintenance_category: Type.String() },
)
/** Maintenance that a host has announced. */
export type Maintenance = NonNullable<typeof windowShape.record>

const maintenances = operation(
  'POST',
  '/api/v0/machines/maintenances',
  'read',
  looseList(['maintenances', 'results'], windowShape),
  { size: 'list', extra: 'collection' },
)

const list = operation('GET', '/api/v0/machines', 'read', looseList(['machines', 'results'], machineShape), {
  size: 'list',
  extra: 'collection',
})

const listNetworkDisks = operation(
  'GET',
  '/api/v0/network_disk/',
  'read',
  looseList(['network_disks', 'disks', 'results'], networkDiskShape),
  { size: 'list', extra: 'collection' },
)

const addNetworkDisk = operation(
  'POST',
  '/api/v0/network_disk/',
  'never',
  plainAnswer(Type.Object({ success: Type.Boolean(), disk_id: Type.Integer() })),
)

const cancelMaintenance = operation(
  'PUT',
  '/api/v0/machines/{id}/cancel_maint',
  'harmless',
  plainAnswer(maintenanceShape),
)

const cleanup = operation('PUT', '/api/v0/machines/{id}/cleanup', 'harmless', plainAnswer(cleanupShape))

/** Hosting (section 4.4). Every method throws ServiceError. */
export function machines(send: Send) {
  return {
    /** The caller's machines (known from deployments; `not_supported` elsewhere). */
    list: (options?: CallOptions) => send(list, {}, options),
    /** What hosts have announced for these machines (known from deployments; `not_supported` elsewhere). 1 a second. */
    maintenances: (ids: readonly number[], options?: CallOptions) =>
      send(maintenances, { body: { machine_ids: ids } }, options),
    /** The caller's network disks (known from deployments; `not_supported` elsewhere). */
    listNetworkDisks: (options?: CallOptions) => send(listNetworkDisks, {}, options),
    /** Adds a disk, or machines to one. Gives the disk's id. `invalid_args`, `not_authorized`. */
    addNetworkDisk: async (request: NetworkDiskBody, options?: CallOptions) =>
      (await send(addNetworkDisk, { body: request }, options)).disk_id,
    /** Cancels scheduled maintenance. `not_found` if the machine is missing or not the caller's. */
    cancelMaintenance: (machine: number, options?: CallOptions) =>
      send(cancelMaintenance, { ids: { id: machine } }, options),
    /** Removes expired contracts. 8 a second. */
    cleanup: (machine: number, options?: CallOptions) =>
      send(cleanup, { ids: { id: machine }, body: {} }, options),
  }
}
