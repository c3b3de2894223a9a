import { rate } from '#contract/format/money.ts'
import { count } from '#contract/format/size.ts'
import { type Micros, micros } from '#contract/spending/money.ts'
import { typedNumber } from '#renderer/components/fields/numbers.ts'

/** A limit with room above a price (micro-dollars): a quarter more, in dollars, rounded up to the cent. */
export function aQuarterMore(price: Micros): number {
  return Math.ceil((price * 1.25) / 10_000) / 100
}

/** How many offers are within the price limit; where none is, the price of the cheapest, if any is known. */
export function withinWords(cheap: number, many: number, cheapest: Micros | undefined): string {
  if (cheap > 0) return `${count(cheap)} of ${count(many)} ${cheap === 1 ? 'cost' : 'cost'} at most that`
  return cheapest === undefined
    ? 'the service reports no prices, so Berth rents none'
    : `none right now; the cheapest is ${rate(cheapest)}`
}

/**
 * How many offers run on a bid, which must be above their lowest.
 * @param lowest the lowest bid of each offer, micro-dollars per hour
 * @param bid as typed, dollars per hour
 */
export function offerBidWords(lowest: readonly (Micros | undefined)[], bid: string): string {
  const most = micros(typedNumber(bid) || 0)
  const reached = lowest.filter(minimum => minimum !== undefined && minimum < most).length
  return reached === 0
    ? 'none has a minimum below that'
    : `${count(reached)} of ${count(lowest.length)} have a minimum below that`
}
