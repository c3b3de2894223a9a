import type { Micros } from '../../contract/spending/money.ts'
import { type Bound, type Cost, shortestAbsence } from './costs.ts'

/** What two polls show of the time between them. */
export interface Evidence {
  /** By how much the credit fell: below nothing where it rose. */
  fell: Micros
  /** Seconds. */
  length: number
  costs: readonly Cost[]
  /** By how much what ran up may be wrong, since clocks are. */
  uncertainty: Micros
}

/** What was paid in. */
export interface TopUp {
  sum: Micros
  /** Found after an absence, or another usual sum would explain the credit as well. */
  estimated: boolean
}

const cent = 10_000
const dollar = 100 * cent
/** What people mostly pay in is a multiple of these, the rounder the likelier. */
const usual = [100, 50, 25, 10, 5].map(dollars => dollars * dollar)
const smallestUsual = 5 * dollar
/** Below this, credit that is higher than the prices explain is taken for prices that are not quite right. */
const smallestTopUp = dollar / 2

/**
 * What was paid in meanwhile, which the service tells only by the credit. A credit that is higher than the prices
 * explain was topped up: while polls follow each other by any sum, to the cent. After an absence something may have
 * stopped or come and gone unseen, so that only a rise, or a usual sum that fits the prices, is taken for a top-up.
 */
export function likeliestTopUp({ fell, length, costs, uncertainty }: Evidence): TopUp {
  const [least, most] = [sum(costs, 'least'), sum(costs, 'most')]
  const [from, to] = [Math.max(0, least - fell - uncertainty), most - fell + uncertainty]
  const away = length > shortestAbsence
  const mayBeUsual = away && usualIn(from, to) > 0
  if (fell >= 0 && least - fell <= (mayBeUsual ? uncertainty : smallestTopUp))
    return { sum: 0, estimated: mayBeUsual }

  const fitting = usual.flatMap(step => roundedIn(step, from, to) ?? [])[0]
  const middle = (least + most) / 2 - fell
  if (!away) {
    const odd = roundedIn(cent, from, to) ?? Math.ceil(middle / cent) * cent
    return { sum: fitting ?? odd, estimated: usualIn(from, to) > 1 }
  }
  if (fitting !== undefined) return { sum: fitting, estimated: true }
  const nearest =
    Math.max(Math.round(middle / smallestUsual), Math.ceil(-fell / smallestUsual)) * smallestUsual
  return { sum: fell < 0 ? nearest : 0, estimated: true }
}

/** The multiple of `step` above nothing that is nearest to the middle of a range, if one lies in it. */
function roundedIn(step: Micros, from: Micros, to: Micros): Micros | undefined {
  const [first, last] = [Math.max(1, Math.ceil(from / step)), Math.floor(to / step)]
  if (first > last) return undefined
  return Math.min(last, Math.max(first, Math.round((from + to) / 2 / step))) * step
}

/** How many usual sums above nothing lie in a range. */
function usualIn(from: Micros, to: Micros): number {
  return Math.max(0, Math.floor(to / smallestUsual) - Math.max(1, Math.ceil(from / smallestUsual)) + 1)
}

function sum(costs: readonly Cost[], which: Bound): Micros {
  return costs.reduce((total, cost) => total + cost[which], 0)
}
