import * as v from 'valibot'
import type { InstanceView } from '../../../contract/instance/instance.ts'
import type { PriceIncreaseView } from '../../../contract/spending/price-increase.ts'

const change = v.optional(v.object({ before: v.optional(v.number()), after: v.number() }))
const Accepted = v.object({
  id: v.number(),
  instance: v.number(),
  gpu: change,
  disk: change,
  upload: change,
  download: change,
  fee: change,
  from: v.number(),
  until: v.optional(v.number()),
})

export const StoredIncreases = v.object({
  /** Until when the service is taken to have no such list, epoch seconds. */
  absentUntil: v.optional(v.number()),
  /** The increase that was told of each instance. */
  told: v.record(v.string(), v.number()),
  /** Those that were consented to, until they are in force: the service does not list them any more. */
  accepted: v.array(Accepted),
})
export type StoredIncreases = v.InferOutput<typeof StoredIncreases>

type Instances = Readonly<Record<string, InstanceView>>

/** Those that nobody was told of yet, with their instances. */
export function untold(
  { told }: StoredIncreases,
  pending: Iterable<PriceIncreaseView>,
  instances: Instances,
): { increase: PriceIncreaseView; instance: InstanceView }[] {
  return [...pending].flatMap(increase => {
    const instance = instances[increase.instance]
    return instance && told[increase.instance] !== increase.id ? [{ increase, instance }] : []
  })
}

/** Nothing is kept of instances that are gone, nor of new prices that are in force. `at`: epoch seconds. */
export function withoutOver(
  { told, accepted, ...kept }: StoredIncreases,
  instances: Instances,
  at: number,
): StoredIncreases {
  return {
    ...kept,
    told: Object.fromEntries(Object.entries(told).filter(([instance]) => instances[instance])),
    accepted: accepted.filter(({ instance, from }) => instances[instance] && from > at),
  }
}
