import type { Micros } from '../../contract/spending/money.ts'
import { type Bound, type Cost, shortestAbsence } from './costs.ts'

/** The evidence of two polls about the time between them. */
export interface Evidence {
  /** By how much the credit fell; negative if it rose. */
  fell: Micros
  /** Seconds between them. */
  length: number
  costs: readonly Cost[]
  /** By how much the costs may be wrong, since clocks are not exact. */
  uncertainty: Micros
}

/** A sum paid in. */
export interface TopUp {
  sum: Micros
  /** Whether Berth was away, or another usual sum would explain the credit as well. */
  estimated: boolean
}

const cent = 10_000
const dollar = 100 * cent
/** People mostly pay in a multiple of one of these; the first that fits is the likeliest. */
const usual = [100, 50, 25, 10, 5].map(dollars => dollars * dollar)
const smallestUsual = 5 * dollar
/** A credit that is higher than expected by less than this is no top-up: the prices are not quite exact. */
const smallestTopUp = dollar / 2

/**
 * The likeliest top-up between two polls, which shows in the credit alone. If the credit is higher than the prices
 * explain, the difference was paid in: any sum, to the cent. If Berth was away, instances may have stopped, or come and
 * gone, unseen. Then only a credit that rose, or a usual sum that fits the prices, counts as a top-up.
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
    const odd =
      roundedIn(cent, from, to) ?? Math.max(Math.round(middle / cent), Math.ceil(-fell / cent)) * cent
    return { sum: fitting ?? odd, estimated: usualIn(from, to) > 1 }
  }
  if (fitting !== undefined) return { sum: fitting, estimated: true }
  const nearest =
    Math.max(Math.round(middle / smallestUsual), Math.ceil(-fell / smallestUsual)) * smallestUsual
  return { sum: fell < 0 ? nearest : 0, estimated: true }
}

/** The positive multiple of `step` in a range that is nearest to its middle; undefined for none. */
function roundedIn(step: Micros, from: Micros, to: Micros): Micros | undefined {
  const [first, last] = [Math.max(1, Math.ceil(from / step)), Math.floor(to / step)]
  if (first > last) return undefined
  return Math.min(last, Math.max(first, Math.round((from + to) / 2 / step))) * step
}

/** How many positive usual sums a range has. */
function usualIn(from: Micros, to: Micros): number {
  return Math.max(0, Math.floor(to / smallestUsual) - Math.max(1, Math.ceil(from / smallestUsual)) + 1)
}

function sum(costs: readonly Cost[], which: Bound): Micros {
  return costs.reduce((total, cost) => total + cost[which], 0)
}
