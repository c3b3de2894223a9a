import * as v from 'valibot'
import type { InstanceView } from '#contract/instance/instance.ts'
import type { PriceIncreaseView } from '#contract/spending/price-increase.ts'

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
  /** Until when the list is not requested, since the service has none; epoch seconds. */
  absentUntil: v.optional(v.number()),
  /** The id of the increase that was alerted, by instance. */
  told: v.record(v.string(), v.number()),
  /** Accepted increases until they take effect, since the service no longer lists them. */
  accepted: v.array(Accepted),
})
export type StoredIncreases = v.InferOutput<typeof StoredIncreases>

type Instances = Readonly<Record<string, InstanceView>>

/** The increases that were not alerted yet, with their instances. */
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

/** Drops increases of instances that are gone, and accepted ones that took effect. `at`: epoch seconds. */
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
