import type { RentRequest } from '../../../contract/market/rental.ts'
import type { NewInstance, VolumeInfo } from '../../../service/offers.ts'
import { markLabel, markVariable } from '../../instances/mark.ts'

const runtypes = { ssh: 'ssh', jupyter: 'jupyter', none: 'args' } as const

/**
 * What the rent dialog asked for, as section 4.2 wants it, with the rental's mark in label and environment.
 * SSH is asked for directly as well as through the proxy, since the direct way is faster; a template says for itself
 * what it wants there. An empty text overrides a template's, so it is sent.
 */
export function requestBody(request: RentRequest, rental: string): NewInstance {
  const { image, disk, access, onstart, label, bid, template, args, volume } = request
  return {
    ...(image ? { image } : {}),
    ...(template ? { template_hash_id: template.hash } : {}),
    disk,
    runtype: runtypes[access],
    ...(access === 'none' ? {} : { use_ssh: true, ...(template ? {} : { ssh_direct: true }) }),
    ...(access === 'jupyter' && !template ? { use_jupyter_lab: true } : {}),
    env: {
      ...Object.fromEntries(request.env.map(({ name, value }) => [name, value])),
      ...Object.fromEntries(request.ports.map(port => [portFlag(port), '1'])),
      [markVariable]: rental,
    },
    label: markLabel(label, rental),
    ...(onstart || (template && onstart !== undefined) ? { onstart } : {}),
    ...(access === 'none' && (args || (template && args !== undefined)) ? { args_str: args } : {}),
    ...(volume ? { volume_info: volumeInfo(volume) } : {}),
    ...(bid === undefined ? {} : { price: bid }),
  }
}

function volumeInfo(volume: NonNullable<RentRequest['volume']>): VolumeInfo {
  const { create, volume: volume_id, mountPath: mount_path } = volume
  return { create_new: create, volume_id, mount_path, ...(volume.create ? { size: volume.size } : {}) }
}

function portFlag({ container, protocol }: RentRequest['ports'][number]): string {
  return `-p ${container}:${container}${protocol === 'udp' ? '/udp' : ''}`
}
