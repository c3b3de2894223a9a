import type { InstanceView } from '../../../electron/contract/instance.ts'
import type { Micros } from '../../../electron/contract/money.ts'

const cent = 10_000
const highest = 32_000_000

/**
 * A bid that wins against the lowest that would run now: a cent more, a tenth of a cent below ten cents. Undefined
 * when that is not known or above the highest bid of $32 (section 8).
 */
export function winningBid(instance: InstanceView): Micros | undefined {
  const { minimumBid } = instance
  if (minimumBid === undefined) return undefined
  const step = minimumBid < 10 * cent ? cent / 10 : cent
  const bid = (Math.floor(minimumBid / step) + 1) * step
  return bid > highest ? undefined : bid
}
