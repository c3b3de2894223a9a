import type { Micros } from '../spending/money.ts'

const cent = 10_000
/** Section 8: no bid is higher. */
const highest = 32_000_000

/**
 * The bid that wins against the lowest that runs now: a cent more, a tenth of a cent below ten cents. Undefined when
 * that would be above the highest bid of $32. Micro-dollars per hour.
 */
export function bidAbove(minimumBid: Micros): Micros | undefined {
  const step = minimumBid < 10 * cent ? cent / 10 : cent
  const bid = (Math.floor(minimumBid / step) + 1) * step
  return bid > highest ? undefined : bid
}

/** The same within a ceiling, which may be less than a step above; undefined when the ceiling does not win. */
export function bidWithin(minimumBid: Micros, ceiling: Micros): Micros | undefined {
  if (ceiling <= minimumBid) return undefined
  return Math.min(bidAbove(minimumBid) ?? highest, ceiling)
}
