import type { Micros } from '../spending/money.ts'

const cent = 10_000
/** Section 8: an instance's bid is changed to no more; micro-dollars per hour. */
export const highestBid: Micros = 32_000_000
/** What a rental may begin with, micro-dollars per hour. */
export const highestFirstBid: Micros = 128_000_000

/**
 * The bid that wins against the lowest that runs now: a cent more, a tenth of a cent below ten cents. Undefined when
 * that would be above the highest that is allowed. Micro-dollars per hour.
 */
export function bidAbove(minimumBid: Micros, highest: Micros = highestBid): Micros | undefined {
  const step = minimumBid < 10 * cent ? cent / 10 : cent
  const bid = (Math.floor(minimumBid / step) + 1) * step
  return bid > highest ? undefined : bid
}

/** What a rental begins with, dollars per hour: what wins against the lowest that runs, or the most that is allowed. */
export function firstBid(minimumBid: Micros = 0): number {
  return (bidAbove(minimumBid, highestFirstBid) ?? highestFirstBid) / 1_000_000
}

/** The same within a ceiling, which may be less than a step above; undefined when the ceiling does not win. */
export function bidWithin(minimumBid: Micros, ceiling: Micros): Micros | undefined {
  if (ceiling <= minimumBid) return undefined
  return Math.min(bidAbove(minimumBid, ceiling) ?? ceiling, ceiling)
}
