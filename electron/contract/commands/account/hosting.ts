import {
  type MachineAnswer,
  type MachineView,
  NetworkDiskRequest,
  type NetworkDiskView,
  WorkergroupRequest,
  type WorkergroupView,
} from '#contract/account/hosting.ts'
import { account, command, ServiceId } from '../command.ts'

/** Hosting and serverless endpoints (sections 4.4 and 4.6). Not every service can list: `not_supported`. */
export const hostingCommands = {
  listMachines: command({ account }).answers<readonly MachineView[]>(),
  cancelMaintenance: command({ account, machine: ServiceId }).answers<MachineAnswer>(),
  cleanUpMachine: command({ account, machine: ServiceId }).answers<MachineAnswer>(),
  listNetworkDisks: command({ account }).answers<readonly NetworkDiskView[]>(),
  addNetworkDisk: command({ account, request: NetworkDiskRequest }).answers<{ disk: number }>(),
  listWorkergroups: command({ account }).answers<readonly WorkergroupView[]>(),
  createWorkergroup: command({ account, request: WorkergroupRequest }).answers<WorkergroupView>(),
}
