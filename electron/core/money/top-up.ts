import type { Micros } from '../../contract/spending/money.ts'
import { absence, type Bound, type Cost, grown } from './costs.ts'

/** What two looks show of the time between them. */
export interface Evidence {
  /** By how much the credit fell: below nothing where it rose. */
  fell: Micros
  /** Seconds. */
  length: number
  costs: readonly Cost[]
  /** By how much what ran up may be wrong, since clocks are. */
  blur: Micros
}

/** What was paid in. */
export interface TopUp {
  sum: Micros
  /** Another usual sum fits the prices, too, or would explain the credit nearly as well. */
  estimated: boolean
}

const cent = 10_000
const dollar = 100 * cent
/**
 * How often people pay in just such a sum, against each other, by what it is a multiple of. Odd sums are believed only
 * where no others explain the credit, since they explain anything: they are found while looks follow each other.
 */
const weights: readonly (readonly [Micros, number])[] = [
  [100 * dollar, 8],
  [50 * dollar, 8],
  [25 * dollar, 6],
  [10 * dollar, 4],
  [5 * dollar, 1],
  [dollar, 0.02],
  [10 * cent, 1e-8],
  [cent, 1e-9],
]
const smallestUsual = 5 * dollar
const weightOfUnusual = 1e-8
/**
 * How often nothing is paid in: less than truly. Where it is open the books lean to a top-up, and so to more that was
 * spent: a budget that stops early costs an hour of work, one that stops late costs money.
 */
const weightOfNone = 30
/** Below this, credit that is higher than the prices explain is taken for prices that are not quite right. */
const smallestTopUp = 500_000

/** The share of absences in which something was stopped and started again, and in which something came and went. */
const oftenStopped = 0.05
const oftenMore = 0.004
/** The share of absences that are none: the clock leapt, and hardly anything left the credit. */
const oftenLeapt = 0.001
/** What something that came and went is taken to have cost per hour of the whole absence. */
const strangersPrice = dollar / 2

/**
 * What was paid in meanwhile: the likeliest of the sums that explain how far the credit fell. A sum is the likelier,
 * the rounder it is and the nearer it brings what was spent to what the prices say. While looks follow each other the
 * prices leave no room, so that any sum is found to the cent; after an absence something may have stopped for a while
 * or come and gone, unseen. What had one price at both ends has cost just that, where a usual sum fits with it.
 */
export function likeliestTopUp(evidence: Evidence): TopUp {
  const { fell, length, costs, blur } = evidence
  const [least, most] = [sum(costs, 'least'), sum(costs, 'most')]
  const [from, to] = [Math.max(0, least - fell - blur), most - fell + blur]
  const another = fitsAnother(0, from, to)
  const isExplained = least - fell <= (another && length > absence ? blur : smallestTopUp)
  if (fell >= 0 && isExplained) return { sum: 0, estimated: another }

  const likelihood = likelihoodOf(evidence, least, most)
  const scores = new Map<Micros, number>()
  const mayHaveLeapt = fell >= 0 && fell <= smallestTopUp
  if (fell >= 0) {
    const lowest = sum(costs, 'lowest')
    const leapt = mayHaveLeapt ? oftenLeapt / smallestTopUp : 0
    const spent = lowest - fell <= smallestTopUp ? Math.max(fell, lowest) : fell
    scores.set(0, weightOfNone * (likelihood(spent) + leapt))
  }
  const middle = (least + most) / 2 - fell
  for (const [amount] of weights) {
    const below = Math.floor(middle / amount) * amount
    for (const paid of [below, below + amount])
      if (paid > 0 && fell + paid >= 0) scores.set(paid, weightOf(paid) * likelihood(fell + paid))
  }
  // What ran before and after ran meanwhile, wherever a usual sum explains the credit so.
  const fitting = mayHaveLeapt ? [] : [...scores].filter(([paid]) => fits(paid, from, to))
  const [best] = likeliest(fitting).concat(likeliest([...scores]))
  if (!best) return { sum: Math.ceil(middle / cent) * cent, estimated: true }
  const apart = [...scores].filter(([paid]) => Math.abs(paid - best[0]) >= smallestTopUp)
  const isNearlyAsLikely = apart.reduce((all, [, score]) => all + score, 0) > best[1] / 10
  return { sum: best[0], estimated: isNearlyAsLikely || fitsAnother(best[0], from, to) }
}

/** Whether a usual sum but this one lies in what the prices leave: which of them was paid nobody can know. */
function fitsAnother(paid: Micros, from: Micros, to: Micros): boolean {
  const fitting = Math.floor(to / smallestUsual) - Math.ceil(from / smallestUsual) + 1
  return fitting > (fits(paid, from, to) ? 1 : 0)
}

function fits(paid: Micros, from: Micros, to: Micros): boolean {
  return paid % smallestUsual === 0 && paid >= from && paid <= to
}

function likeliest(scores: readonly (readonly [Micros, number])[]): (readonly [Micros, number])[] {
  return scores.filter(([, score]) => score > 0).sort(([, a], [, b]) => b - a)
}

/** How likely it is that so much was spent, per micro-dollar. */
function likelihoodOf(
  { length, costs, blur }: Evidence,
  least: Micros,
  most: Micros,
): (spent: Micros) => number {
  const slack = blur + cent / 2
  const middle = (least + most) / 2
  const lowest = sum(costs, 'lowest')
  const spread = Math.hypot(slack, ...costs.map(cost => cost.most - cost.least)) / Math.sqrt(12)
  const below = (middle - lowest) / 2 + slack
  const above = grown(strangersPrice, length) + slack
  return spent => {
    const expected =
      spent >= least - slack && spent <= most + slack ? bell((spent - middle) / spread) / spread : 0
    if (length <= absence) return expected
    if (spent > middle) return expected + (oftenMore * Math.exp((middle - spent) / above)) / above
    return spent < lowest - slack ? 0 : expected + (oftenStopped * Math.exp((spent - middle) / below)) / below
  }
}

function weightOf(paid: Micros): number {
  const weight = weights.find(([amount]) => paid % amount === 0)?.[1] ?? weightOfUnusual
  return paid < smallestUsual ? Math.min(weight, weightOfUnusual) : weight
}

/** The normal distribution. */
function bell(deviations: number): number {
  return Math.exp(-(deviations ** 2) / 2) / Math.sqrt(2 * Math.PI)
}

function sum(costs: readonly Cost[], which: Bound): Micros {
  return costs.reduce((total, cost) => total + cost[which], 0)
}
