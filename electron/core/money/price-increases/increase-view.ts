import type { PriceChange, PriceIncreaseView } from '#contract/spending/price-increase.ts'
import type { PriceIncrease } from '#service/price-increases.ts'

const secondsInHour = 3600
const secondsInMonth = 720 * 3600

/** A host's price increase, as shown in State. */
export function increaseView(increase: PriceIncrease): PriceIncreaseView {
  return {
    id: increase.pending_price_increase_id,
    instance: increase.contract_id,
    gpu: change(increase.old_gpu_costpersec, increase.new_gpu_costpersec, secondsInHour),
    disk: change(increase.old_disk_ram_costpersec, increase.new_disk_ram_costpersec, secondsInMonth),
    upload: change(increase.old_bwu_cost, increase.new_bwu_cost),
    download: change(increase.old_bwd_cost, increase.new_bwd_cost),
    fee: change(increase.old_platform_fee, increase.new_platform_fee),
    from: increase.contract_end_date,
    until: increase.ask_end_date,
  }
}

/** The increases of existing instances, by instance: accepted ones, which pending ones replace. */
export function shownIncreases(
  accepted: readonly PriceIncreaseView[],
  pending: Iterable<PriceIncreaseView>,
  instances: Readonly<Record<string, unknown>>,
): Record<string, PriceIncreaseView> {
  const consented = accepted.map(one => ({ ...one, accepted: true as const }))
  const there = [...consented, ...pending].filter(({ instance }) => instances[instance])
  return Object.fromEntries(there.map(view => [view.instance, view]))
}

/** Undefined where the price stays. */
function change(before: number | undefined, after: number | undefined, factor = 1): PriceChange | undefined {
  if (after === undefined || !Number.isFinite(after)) return undefined
  return { before: before === undefined ? undefined : before * factor, after: after * factor }
}
