import { invalidArgs } from '../errors.ts'
import type { Fields } from '../fields.ts'
import type { ApiRequest, Routes } from '../http/route.ts'
import { epochSeconds } from '../world/clock.ts'
import type { Machine, NetworkDisk, Workergroup } from '../world/hosting.ts'
import type { World } from '../world/world.ts'

/** Section 4.4: actions of a machine's owner; section 4.6: workergroups. The listings are beyond the interface. */
export const hostingRoutes: Routes = {
  'GET /machines/': {
    permission: 'machine_read',
    answer: ({ world }) => ({ success: true, machines: world.machines.list().map(machineRecord) }),
  },
  'PUT /machines/:machine/cancel_maint/': { permission: 'machine_write', answer: cancelMaintenance },
  'PUT /machines/:machine/cleanup/': { permission: 'machine_write', threshold: 8, answer: cleanUp },
  'GET /network_disk/': {
    permission: 'machine_read',
    answer: ({ world }) => ({
      success: true,
      network_disks: world.networkDisks.list().map(disk => diskRecord(disk, world.account.id)),
    }),
  },
  'POST /network_disk/': { permission: 'machine_write', answer: addDisk },
  'GET /workergroups/': {
    permission: 'misc',
    answer: ({ world }) => ({
      success: true,
      workergroups: world.workergroups.list().map(group => workergroupRecord(group, world.account.id)),
    }),
  },
  'POST /workergroups/': { permission: 'misc', answer: addGroup },
}

function cancelMaintenance({ world, id, body }: ApiRequest) {
  body()
  const machine = world.machines.maintained(id('machine'), world.account.id)
  const scheduled = machine.maintenance !== null
  machine.maintenance = null
  return {
    success: true,
    ctime: epochSeconds(world.clock.now()),
    machine_id: machine.id,
    msg: scheduled ? 'Maintenance cancelled.' : 'No maintenance was scheduled.',
  }
}

/** A body is required, and must be empty (`client_id` aside, which any body may have). */
function cleanUp({ world, id, body, hasBody }: ApiRequest) {
  const machineId = id('machine')
  const fields = body()
  const stray = Object.keys(fields.values).some(name => name !== 'client_id')
  if (!hasBody || stray) throw fields.refuse('The body must be an empty JSON object.')
  const machine = world.machines.owned(machineId)
  const deleted = machine.expiredContracts
  machine.expiredContracts = 0
  return {
    success: true,
    ctime: epochSeconds(world.clock.now()),
    machine_id: machine.id,
    user_id: world.account.id,
    num_deleted: deleted,
    msg: `${deleted} expired ${deleted === 1 ? 'contract was' : 'contracts were'} removed.`,
  }
}

function addDisk({ world, body }: ApiRequest) {
  const fields = body()
  const mountPoint = fields.string('mount_point')
  if (!mountPoint.startsWith('/')) throw fields.refuse('mount_point must be an absolute path.')
  const one = fields.optionalInteger('machine_id')
  const many = fields.optionalIntegers('machine_ids') ?? []
  const diskId = fields.optionalInteger('disk_id')
  const machineIds = one === undefined ? many : [one, ...many]
  if (machineIds.length === 0) throw fields.refuse('machine_id or machine_ids is needed.')
  for (const machineId of machineIds) world.machines.owned(machineId)
  const disk = world.networkDisks.mount(mountPoint, machineIds, diskId)
  return { success: true, disk_id: disk.id }
}

function machineRecord(machine: Machine): Record<string, unknown> {
  const { maintenance } = machine
  return {
    id: machine.id,
    machine_id: machine.id,
    hostname: machine.hostname,
    gpu_name: machine.gpuName,
    num_gpus: machine.gpus,
    geolocation: machine.geolocation,
    reliability2: machine.reliability,
    verification: 'verified',
    listed: true,
    current_rentals_running: machine.runningContracts,
    expired_contracts: machine.expiredContracts,
    machine_maintenance: maintenance
      ? [
          {
            machine_id: machine.id,
            start_time: epochSeconds(maintenance.start),
            end_time: epochSeconds(maintenance.end),
            reason: maintenance.reason,
          },
        ]
      : [],
  }
}

function diskRecord(disk: NetworkDisk, userId: number): Record<string, unknown> {
  const [mountPoint = ''] = disk.mounts.values()
  return {
    id: disk.id,
    disk_id: disk.id,
    user_id: userId,
    mount_point: mountPoint,
    machine_ids: [...disk.mounts.keys()],
    mounts: [...disk.mounts].map(([machine_id, mount_point]) => ({ machine_id, mount_point })),
    created_at: epochSeconds(disk.created),
  }
}

const DEFAULT_SEARCH = 'verified=true rentable=true rented=false'

function addGroup({ world, body }: ApiRequest) {
  const fields = body()
  const name = fields.optionalString('endpoint_name')
  const endpointId = fields.optionalInteger('endpoint_id')
  const content = {
    ...readTemplate(world, fields),
    search_params: fields.optionalString('search_params') ?? DEFAULT_SEARCH,
    launch_args: fields.optionalString('launch_args') ?? '',
    min_load: readAmount(fields, 'min_load') ?? 1,
    target_util: readAmount(fields, 'target_util') ?? null,
  }
  const endpoint = {
    endpoint_name: name ?? null,
    endpoint_id: endpointId ?? world.workergroups.endpoint(name),
  }
  const group = world.workergroups.create({ ...content, ...endpoint })
  return { success: true, ...workergroupRecord(group, world.account.id) }
}

/** `template_hash` and `template_id` are alternatives, and must name an existing template. */
function readTemplate(world: World, fields: Fields) {
  const hash = fields.optionalString('template_hash')
  const id = fields.optionalInteger('template_id')
  if (hash !== undefined && !world.templates.find(hash)) throw invalidArgs(`There is no template ${hash}.`)
  if (id !== undefined && !world.templates.visible().some(template => template.id === id)) {
    throw invalidArgs(`There is no template ${id}.`)
  }
  return { template_hash: hash ?? null, template_id: id ?? null }
}

function readAmount(fields: Fields, name: string): number | undefined {
  const amount = fields.optionalNumber(name)
  if (amount !== undefined && amount < 0) throw fields.refuse(`${name} must not be negative.`)
  return amount
}

function workergroupRecord({ created, ...group }: Workergroup, userId: number): Record<string, unknown> {
  return { ...group, user_id: userId, created_at: epochSeconds(created) }
}
