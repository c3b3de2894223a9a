import { rate } from '../../../../electron/contract/format/money.ts'
import { count } from '../../../../electron/contract/format/size.ts'
import { type Micros, micros } from '../../../../electron/contract/spending/money.ts'
import { typedNumber } from '../../../components/fields/numbers.ts'

/** A limit that leaves room above a price (micro-dollars): a quarter more, in dollars, rounded up to the cent. */
export function aQuarterMore(price: Micros): number {
  return Math.ceil((price * 1.25) / 10_000) / 100
}

/** How many of so many offers are no dearer than a price may be; where none is, what the cheapest asks. */
export function withinWords(cheap: number, many: number, cheapest: Micros | undefined): string {
  if (cheap > 0) return `${count(cheap)} of ${count(many)} ${cheap === 1 ? 'is' : 'are'} that cheap`
  return cheapest === undefined
    ? 'none is that cheap now'
    : `none is that cheap now; the cheapest is ${rate(cheapest)}`
}

/**
 * How many offers a bid runs on: it must be above the lowest that runs there.
 * @param lowest the lowest bid of each offer, micro-dollars per hour
 * @param bid as it is typed, dollars per hour
 */
export function bidWords(lowest: readonly (Micros | undefined)[], bid: string): string {
  const most = micros(typedNumber(bid) || 0)
  const reached = lowest.filter(minimum => minimum !== undefined && minimum < most).length
  return reached === 0
    ? 'none of the offers runs at less'
    : `${count(reached)} of ${count(lowest.length)} run at less`
}
