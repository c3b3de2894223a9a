import type { VolumeView } from '#contract/account/volume.ts'
import type { volumeCommands as declared } from '#contract/commands/account/volumes.ts'
import { micros } from '#contract/spending/money.ts'
import type { HandlersOf } from '#core/app/page/dispatcher.ts'
import { needingPermission } from '#core/app/permission.ts'
import { cleanLine } from '#core/instances/instance-view.ts'
import type { Volume } from '#service/volumes.ts'
import type { Parts } from '../parts.ts'

export function volumeHandlers({ accounts, activity }: Parts): HandlersOf<typeof declared> {
  return {
    async listVolumes({ account }) {
      const { client } = accounts.session(account)
      return (await needingPermission('instance_read', client.volumes.list())).map(volumeView)
    },
    async deleteVolume({ account, id: volume }) {
      const { id, client } = accounts.session(account)
      await needingPermission('instance_write', client.volumes.remove(volume))
      activity.add({ account: id, kind: 'user', text: `Deleted volume #${volume}` })
    },
  }
}

function volumeView(volume: Volume): VolumeView {
  const cost = volume.storage_total_cost
  return {
    id: volume.id,
    label: cleanLine(volume.label),
    status: cleanLine(volume.status),
    size: volume.disk_space,
    machineId: volume.machine_id,
    location: cleanLine(volume.geolocation),
    costPerHour: cost === undefined ? undefined : micros(cost),
    instances: (volume.instances ?? []).flatMap(instanceId),
  }
}

function instanceId(mounted: unknown): number[] {
  const id: unknown =
    typeof mounted === 'object' && mounted !== null && 'id' in mounted ? mounted.id : mounted
  return typeof id === 'number' ? [id] : []
}
