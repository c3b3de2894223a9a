import type { PriceChange, PriceIncreaseView } from '../../../contract/spending/price-increase.ts'
import type { PriceIncrease } from '../../../service/price-increases.ts'

const secondsInHour = 3600
const secondsInMonth = 720 * 3600

/** What a host asks for, as Berth shows it. */
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

/** Undefined where the price stays. */
function change(before: number | undefined, after: number | undefined, factor = 1): PriceChange | undefined {
  if (after === undefined || !Number.isFinite(after)) return undefined
  return { before: before === undefined ? undefined : before * factor, after: after * factor }
}
