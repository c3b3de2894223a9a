import type { InstanceView } from '#contract/instance/instance.ts'
import { firstDisk, type OpenRequest, type RentRequest } from '#contract/market/rental.ts'
import { replacesVariable } from '#core/instances/mark.ts'
import type { Instance } from '#service/instances.ts'

/** A request before an offer is chosen for it, and in no instance's place. */
export function withoutOffer({ offer: _, env, ...request }: RentRequest): OpenRequest {
  return { ...request, env: env.filter(({ name }) => name !== replacesVariable) }
}

/** A request like an instance that Berth did not rent, as far as its record allows. */
export function requestLike(instance: InstanceView, record: Instance | undefined): OpenRequest {
  return {
    image: instance.image ?? '',
    access: instance.jupyter ? 'jupyter' : instance.runtype === 'args' ? 'none' : 'ssh',
    direct: instance.runtype?.endsWith('_proxy') && !/direc/.test(instance.runtype) ? false : undefined,
    disk: instance.disk?.size ?? firstDisk,
    env: [],
    ports: [],
    label: instance.label || undefined,
    onstart: record?.onstart || undefined,
    bid: instance.interruptible && instance.bid !== undefined ? instance.bid / 1_000_000 : undefined,
  }
}
