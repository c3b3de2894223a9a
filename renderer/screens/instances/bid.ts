import { bidAbove } from '../../../electron/contract/automation/bid.ts'
import type { InstanceView } from '../../../electron/contract/instance/instance.ts'
import type { Micros } from '../../../electron/contract/spending/money.ts'

/**
 * The next bid above the lowest that runs now, in steps of a cent (a tenth of a cent below ten cents). Undefined when
 * that is unknown or above the highest bid of $32 (section 8).
 */
export function winningBid(instance: InstanceView): Micros | undefined {
  const { minimumBid } = instance
  return minimumBid === undefined ? undefined : bidAbove(minimumBid)
}
