import type { hostingCommands as declared } from '#contract/commands/account/hosting.ts'
import { BerthError } from '#contract/problem.ts'
import type { HandlersOf } from '#core/app/page/dispatcher.ts'
import { needingPermission } from '#core/app/permission.ts'
import { ServiceError } from '#service/service-error.ts'
import type { Parts } from '../parts.ts'
import {
  machineAnswer,
  machineView,
  networkDiskBody,
  networkDiskView,
  workergroupBody,
  workergroupView,
} from './hosting-view.ts'

type HostingCommands = HandlersOf<typeof declared>

/** Commands for owners of machines, and for serverless endpoints (sections 4.4 and 4.6). */
export function hostingHandlers({ accounts, activity }: Parts): HostingCommands {
  const note = (account: string, text: string) => activity.add({ account, kind: 'user', text })
  return {
    async listMachines({ account }) {
      const { client } = accounts.session(account)
      return (await needingPermission('machine_read', client.machines.list())).map(machineView)
    },
    async cancelMaintenance({ account, machine }) {
      const { id, client } = accounts.session(account)
      const answer = machineAnswer(
        await needingPermission(
          'machine_write',
          onMachine(machine, client.machines.cancelMaintenance(machine)),
        ),
      )
      note(id, `Cancelled the maintenance of machine #${machine}`)
      return answer
    },
    async cleanUpMachine({ account, machine }) {
      const { id, client } = accounts.session(account)
      const answer = machineAnswer(
        await needingPermission('machine_write', onMachine(machine, client.machines.cleanup(machine))),
      )
      note(id, `Cleaned up machine #${machine}: ${answer.deleted ?? 0} expired contracts went`)
      return answer
    },
    async listNetworkDisks({ account }) {
      const { client } = accounts.session(account)
      return (await needingPermission('machine_read', client.machines.listNetworkDisks())).map(
        networkDiskView,
      )
    },
    async addNetworkDisk({ account, request }) {
      const { id, client } = accounts.session(account)
      const disk = await needingPermission(
        'machine_write',
        client.machines.addNetworkDisk(networkDiskBody(request)),
      )
      const on = request.machines.map(machine => `#${machine}`).join(', ')
      note(id, `${request.disk === undefined ? 'Added' : 'Extended'} network disk #${disk} on machines ${on}`)
      return { disk }
    },
    async listWorkergroups({ account }) {
      const { client } = accounts.session(account)
      return (await needingPermission('misc', client.workergroups.list())).map(workergroupView)
    },
    async createWorkergroup({ account, request }) {
      const { id, client } = accounts.session(account)
      const group = workergroupView(
        await needingPermission('misc', client.workergroups.create(workergroupBody(request))),
      )
      note(id, `Created ${group.id === undefined ? 'a workergroup' : `workergroup #${group.id}`}`)
      return group
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
      message: `There is no machine #${machine} on this account.`,
      advice: 'Check its id: only the owner of a machine may do this.',
      field: 'machine',
    })
  }
}
