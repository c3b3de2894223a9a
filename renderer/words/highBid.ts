import { rate } from '#contract/format/money.ts'
import { count, tenths } from '#contract/format/size.ts'
import type { Micros } from '#contract/spending/money.ts'

/** Bids from so many times the lowest are asked about: a slip of the point makes ten. */
const unusual = 3

/** What to say of a bid that is far above the lowest, and likely mistyped; undefined of any other. */
export function highBid(bid: Micros | undefined, lowest: Micros | undefined): string | undefined {
  if (bid === undefined || lowest === undefined || lowest <= 0 || !(bid > lowest * unusual)) return undefined
  const times = bid / lowest
  return `That is ${times < 10 ? tenths(times) : count(times)} × the lowest bid of ${rate(lowest)}. You pay what you bid.`
}
