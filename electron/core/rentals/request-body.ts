import type { RentRequest } from '../../contract/rental.ts'
import type { NewInstance } from '../../service/offers.ts'
import { markLabel, markVariable } from './mark.ts'

const runtypes = { ssh: 'ssh', jupyter: 'jupyter', none: 'args' } as const

/**
 * What the rent dialog asked for, as section 4.2 wants it, with the rental's mark in label and environment.
 * SSH is asked for directly as well as through the proxy, since the direct way is faster.
 */
export function requestBody(request: RentRequest, rental: string): NewInstance {
  const { image, disk, access, onstart, label, bid } = request
  return {
    image,
    disk,
    runtype: runtypes[access],
    ...(access === 'none' ? {} : { use_ssh: true, ssh_direct: true }),
    ...(access === 'jupyter' ? { use_jupyter_lab: true } : {}),
    env: {
      ...Object.fromEntries(request.env.map(({ name, value }) => [name, value])),
      ...Object.fromEntries(request.ports.map(port => [portFlag(port), '1'])),
      [markVariable]: rental,
    },
    label: markLabel(label, rental),
    ...(onstart ? { onstart } : {}),
    ...(bid === undefined ? {} : { price: bid }),
  }
}

function portFlag({ container, protocol }: RentRequest['ports'][number]): string {
  return `-p ${container}:${container}${protocol === 'udp' ? '/udp' : ''}`
}
