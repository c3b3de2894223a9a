import type { Micros } from '../spending/money.ts'

const cent = 10_000
/** Section 8: the highest bid for an existing instance, micro-dollars per hour. */
export const highestBid: Micros = 32_000_000
/** The highest bid to begin a rental with, micro-dollars per hour. */
export const highestFirstBid: Micros = 128_000_000

/** Whether an interruptible instance bids less than the lowest bid that runs now. In any unit, as far as both are known. */
export function bidsTooLow({
  interruptible,
  bid,
  minimumBid,
}: {
  interruptible: boolean
  bid?: number
  minimumBid?: number
}): boolean {
  return interruptible && bid !== undefined && minimumBid !== undefined && minimumBid > bid
}

/**
 * The bid one step above the lowest that runs now: the next cent, or below ten cents the next tenth of a cent.
 * Undefined if that exceeds `highest`. Micro-dollars per hour.
 */
export function bidAbove(minimumBid: Micros, highest: Micros = highestBid): Micros | undefined {
  const step = minimumBid < 10 * cent ? cent / 10 : cent
  const bid = (Math.floor(minimumBid / step) + 1) * step
  return bid > highest ? undefined : bid
}

/** How far a user's bid is above the lowest that runs, so that the next bid isn't above it already. */
export const bidRoom = 0.2

/** A fifth above the lowest bid that runs, or the highest allowed. */
export function bidWithRoom(minimumBid: Micros, highest: Micros): Micros {
  return bidAbove(Math.max(0, Math.round(minimumBid * (1 + bidRoom)) - 1), highest) ?? highest
}

/**
 * The bid that the user is offered for an instance, as far above the lowest that runs now as a rental's first bid.
 * Undefined when that is unknown or at the highest bid of $32 (section 8).
 */
export function winningBid({ minimumBid }: { minimumBid?: Micros }): Micros | undefined {
  if (minimumBid === undefined || minimumBid >= highestBid) return undefined
  return bidWithRoom(minimumBid, highestBid)
}

/** The first bid of a rental, dollars per hour. */
export function firstBid(minimumBid: Micros = 0): number {
  return bidWithRoom(minimumBid, highestFirstBid) / 1_000_000
}

/** `bidAbove`, but at most the ceiling; undefined if the ceiling is not above the minimum. */
export function bidWithin(minimumBid: Micros, ceiling: Micros): Micros | undefined {
  if (ceiling <= minimumBid) return undefined
  return Math.min(bidAbove(minimumBid, ceiling) ?? ceiling, ceiling)
}
