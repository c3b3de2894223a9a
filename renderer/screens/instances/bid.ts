import { bidAbove } from '#contract/automation/bid.ts'
import { rate } from '#contract/format/money.ts'
import type { InstanceView } from '#contract/instance/instance.ts'
import type { Micros } from '#contract/spending/money.ts'

/**
 * The next bid above the lowest that runs now, in steps of a cent (a tenth of a cent below ten cents). Undefined when
 * that is unknown or above the highest bid of $32 (section 8).
 */
export function winningBid(instance: InstanceView): Micros | undefined {
  const { minimumBid } = instance
  return minimumBid === undefined ? undefined : bidAbove(minimumBid)
}

/** The tooltip of an interruptible instance's price; undefined for one at a fixed price. */
export function bidWords({
  interruptible,
  bid,
  minimumBid,
}: Pick<InstanceView, 'interruptible' | 'bid' | 'minimumBid'>): { title: string } | undefined {
  if (!interruptible) return undefined
  const parts = [
    bid !== undefined && `Your bid: ${rate(bid)}`,
    minimumBid !== undefined && `lowest now: ${rate(minimumBid)}`,
  ].filter(Boolean)
  return { title: parts.length === 0 ? 'Rented with a bid' : parts.join(', ') }
}
