import type { hostingCommands } from '#contract/commands/account.ts'
import type {
  CleanedUp,
  NetworkDiskBody as DiskBody,
  HostedMachine,
  MaintenanceCancelled,
  NetworkDisk,
} from '#service/machines.ts'
import { ServiceError } from '#service/service-error.ts'
import type { WorkergroupBody as GroupBody, Workergroup } from '#service/workergroups.ts'
import type {
  MachineAnswer,
  MachineView,
  NetworkDiskRequest,
  NetworkDiskView,
  WorkergroupRequest,
  WorkergroupView,
} from '#shared/account/hosting.ts'
import { BerthError } from '#shared/problem.ts'
import type { HandlersOf } from '../bridge/dispatcher.ts'
import { cleanLine } from '../instances/instance-view.ts'
import { askOf, type Services } from './services.ts'

/** Commands for owners of machines, and for serverless endpoints (sections 4.4 and 4.6). */
export function hostingHandlers(parts: Services): HandlersOf<typeof hostingCommands> {
  const ask = askOf(parts)
  return {
    async listMachines({ account }) {
      return (await ask(account, 'machine_read', ({ machines }) => machines.list())).map(machineView)
    },
    async cancelMaintenance({ account, machine }) {
      const answer = await ask(
        account,
        'machine_write',
        ({ machines }) => onMachine(machine, machines.cancelMaintenance(machine)),
        `Cancelled the maintenance of machine #${machine}`,
      )
      return machineAnswer(answer)
    },
    async cleanUpMachine({ account, machine }) {
      const answer = await ask(
        account,
        'machine_write',
        ({ machines }) => onMachine(machine, machines.cleanup(machine)),
        ({ num_deleted: deleted }) => `Cleaned up machine #${machine}: ${deleted} expired contracts removed`,
      )
      return machineAnswer(answer)
    },
    async listNetworkDisks({ account }) {
      const disks = await ask(account, 'machine_read', ({ machines }) => machines.listNetworkDisks())
      return disks.map(networkDiskView)
    },
    async addNetworkDisk({ account, request }) {
      const on = request.machines.map(machine => `#${machine}`).join(', ')
      const did = request.disk === undefined ? 'Added' : 'Extended'
      const disk = await ask(
        account,
        'machine_write',
        ({ machines }) => machines.addNetworkDisk(networkDiskBody(request)),
        added => `${did} network disk #${added} on machines ${on}`,
      )
      return { disk }
    },
    async listWorkergroups({ account }) {
      return (await ask(account, 'misc', ({ workergroups }) => workergroups.list())).map(workergroupView)
    },
    async createWorkergroup({ account, request }) {
      const group = await ask(
        account,
        'misc',
        ({ workergroups }) => workergroups.create(workergroupBody(request)),
        ({ id }) => `Created ${id === undefined ? 'a workergroup' : `workergroup #${id}`}`,
      )
      return workergroupView(group)
    },
  }
}

/** Awaits a call on one machine, and explains a 404, which has no code there (section 4.4). */
async function onMachine<Answer>(machine: number, call: Promise<Answer>): Promise<Answer> {
  try {
    return await call
  } catch (error) {
    if (!(error instanceof ServiceError && error.status === 404)) throw error
    throw new BerthError({
      code: 'not_found',
      message: `No machine on this account has the id ${machine}.`,
      advice: 'Check its id: only the owner of a machine may do this.',
      field: 'machine',
    })
  }
}

/** The view of a machine's record, of which a listing may leave out any field. */
function machineView(machine: HostedMachine): MachineView {
  return {
    id: machine.machine_id ?? machine.id,
    hostname: cleanLine(machine.hostname),
    gpuName: cleanLine(machine.gpu_name),
    gpuCount: machine.num_gpus,
    location: cleanLine(machine.geolocation),
    reliability: machine.reliability2,
    listed: machine.listed,
    verification: cleanLine(machine.verification),
    maintenance: maintenanceOf(machine),
  }
}

function maintenanceOf({ machine_maintenance: windows }: HostedMachine): MachineView['maintenance'] {
  return windows && { is: windows.length > 0, from: windows[0]?.start_time }
}

function networkDiskView(disk: NetworkDisk): NetworkDiskView {
  const machines = disk.machine_ids ?? (disk.machine_id === undefined ? [] : [disk.machine_id])
  return { id: disk.disk_id ?? disk.id, mountPoint: cleanLine(disk.mount_point), machines }
}

/** One machine is sent as `machine_id`, several as `machine_ids` (section 4.4). */
function networkDiskBody({ mountPoint, machines, disk }: NetworkDiskRequest): DiskBody {
  const [first, ...more] = machines
  return {
    mount_point: mountPoint,
    machine_id: more.length === 0 ? first : undefined,
    machine_ids: more.length === 0 ? undefined : [...machines],
    disk_id: disk,
  }
}

function machineAnswer({ ctime, msg, ...answer }: MaintenanceCancelled | CleanedUp): MachineAnswer {
  return {
    at: ctime,
    message: cleanLine(msg),
    deleted: 'num_deleted' in answer ? answer.num_deleted : undefined,
  }
}

/** A workergroup (section 2.9) under the page's names. Empty texts and nulls are left out. */
function workergroupView(group: Workergroup): WorkergroupView {
  return {
    id: group.id,
    endpointName: cleanLine(group.endpoint_name),
    endpointId: group.endpoint_id,
    templateHash: cleanLine(group.template_hash),
    templateId: group.template_id,
    searchParams: cleanLine(group.search_params),
    launchArgs: cleanLine(group.launch_args),
    minLoad: group.min_load,
    targetUtilisation: group.target_util,
  }
}

function workergroupBody(request: WorkergroupRequest): GroupBody {
  return {
    endpoint_name: request.endpointName,
    endpoint_id: request.endpointId,
    template_hash: request.templateHash,
    template_id: request.templateId,
    search_params: request.searchParams,
    launch_args: request.launchArgs,
    min_load: request.minLoad,
    target_util: request.targetUtilisation,
  }
}
