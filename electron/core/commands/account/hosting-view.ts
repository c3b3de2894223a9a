import type {
  MachineAnswer,
  MachineView,
  NetworkDiskRequest,
  NetworkDiskView,
  WorkergroupRequest,
  WorkergroupView,
} from '#contract/account/hosting.ts'
import { cleanLine } from '#core/instances/instance-view.ts'
import type {
  CleanedUp,
  NetworkDiskBody as DiskBody,
  HostedMachine,
  MaintenanceCancelled,
  NetworkDisk,
} from '#service/machines.ts'
import type { WorkergroupBody as GroupBody, Workergroup } from '#service/workergroups.ts'

/** The view of a machine's record, of which a listing may leave out any field. */
export function machineView(machine: HostedMachine): MachineView {
  return {
    id: machine.machine_id ?? machine.id,
    hostname: cleanLine(machine.hostname),
    gpuName: cleanLine(machine.gpu_name),
    gpuCount: machine.num_gpus,
    location: cleanLine(machine.geolocation),
    reliability: machine.reliability2,
    listed: machine.listed,
    verification: cleanLine(machine.verification),
  }
}

export function networkDiskView(disk: NetworkDisk): NetworkDiskView {
  const machines = disk.machine_ids ?? (disk.machine_id === undefined ? [] : [disk.machine_id])
  return { id: disk.disk_id ?? disk.id, mountPoint: cleanLine(disk.mount_point), machines }
}

/** One machine is sent as `machine_id`, several as `machine_ids` (section 4.4). */
export function networkDiskBody({ mountPoint, machines, disk }: NetworkDiskRequest): DiskBody {
  const [first, ...more] = machines
  return {
    mount_point: mountPoint,
    machine_id: more.length === 0 ? first : undefined,
    machine_ids: more.length === 0 ? undefined : [...machines],
    disk_id: disk,
  }
}

export function machineAnswer({ ctime, msg, ...answer }: MaintenanceCancelled | CleanedUp): MachineAnswer {
  return {
    at: ctime,
    message: cleanLine(msg),
    deleted: 'num_deleted' in answer ? answer.num_deleted : undefined,
  }
}

/** A workergroup (section 2.9) under the page's names. Empty texts and nulls are left out. */
export function workergroupView(group: Workergroup): WorkergroupView {
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

export function workergroupBody(request: WorkergroupRequest): GroupBody {
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
