import type { ApiRequest, Routes } from '#simulator/http/route.ts'
import { epochSeconds } from '#simulator/world/clock.ts'
import type { Instance } from '#simulator/world/instances/instance.ts'
import type { PriceIncrease } from '#simulator/world/instances/price-increases.ts'
import { dollars } from '#simulator/world/money.ts'

/** Price increases that hosts ask for, and the user's answers. */
export const priceIncreaseRoutes: Routes = {
  'GET /instances/pending-price-increases/': {
    permission: 'instance_read',
    answer: ({ world }) => {
      const pending = world.priceIncreases.list().map(row)
      return { success: true, count: pending.length, truncated: false, pending_price_increases: pending }
    },
  },
  'PUT /instances/accept-price-increase/': {
    permission: 'instance_write',
    answer: request => answered(request, id => request.world.priceIncreases.accept(id)),
  },
  'PUT /instances/reject-price-increase/': {
    permission: 'instance_write',
    answer: request => answered(request, id => request.world.priceIncreases.reject(id)),
  },
}

/** The body holds the id and nothing else. */
function answered({ body }: ApiRequest, answerIncrease: (id: number) => Instance) {
  const fields = body()
  const stray = Object.keys(fields.values).find(name => name !== 'pending_price_increase_id')
  if (stray !== undefined) throw fields.refuse(`extra fields not permitted: ${stray}`)
  const id = fields.integer('pending_price_increase_id')
  return { success: true, pending_price_increase_id: id, contract_id: answerIncrease(id).id }
}

/** GPUs are in dollars per GPU and second, the disk per GB and second, traffic per GB. Null means unchanged. */
function row({ id, instance, factor, created, ends }: PriceIncrease) {
  const { facts } = instance.offer
  const gpu = dollars(instance.price) / facts.num_gpus / 3600
  const disk = instance.storageCost / (720 * 3600)
  return {
    pending_price_increase_id: id,
    contract_id: instance.id,
    host_id: facts.host_id,
    new_gpu_costpersec: gpu * factor,
    new_disk_ram_costpersec: disk * factor,
    new_bwu_cost: null,
    new_bwd_cost: null,
    new_platform_fee: null,
    old_gpu_costpersec: gpu,
    old_disk_ram_costpersec: disk,
    old_bwu_cost: facts.inet_up_cost,
    old_bwd_cost: facts.inet_down_cost,
    old_platform_fee: null,
    contract_end_date: epochSeconds(instance.ends),
    ask_end_date: epochSeconds(ends),
    created_at: epochSeconds(created),
  }
}
