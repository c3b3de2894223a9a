import type { InstanceView } from '../../contract/instance/instance.ts'
import { spentBy } from '../../contract/reading.ts'
import type { Micros } from '../../contract/spending/money.ts'

/** What has been counted already, up to a moment of the account's time. */
export interface Counted {
  /** Epoch seconds, and by how many that may be wrong. */
  at: number
  blur?: number
  credit?: Micros | undefined
  /** By id: what the instance had cost in all by then, and what it cost per hour. */
  instances: Record<string, CountedInstance>
  /** What the shares add up to more than left the account, by blurred clocks: later ones have less for it. */
  over?: Micros
}

interface CountedInstance {
  spent: Micros
  perHour: Micros
  /** What it cost per hour at the least, where that is not known: a host that is silent may charge its disk alone. */
  least?: Micros
}

/** What a fresh look adds. */
export interface Accrual {
  counted: Counted
  /** What left the account: by its credit where that is known. */
  spent: Micros
  toppedUp: Micros
  /** What each instance cost of it, by id; those that were destroyed meanwhile too. */
  shares: ReadonlyMap<string, Micros>
}

export interface Seen {
  at: number
  credit?: Micros | undefined
  instances: Readonly<Record<string, InstanceView>>
  /** Seconds by which `at` may be wrong; 2 where nothing is said. */
  blur?: number
}

/** What one instance may have cost in a stretch of time. Where it is sure, all three are the same. */
interface Cost {
  least: Micros
  most: Micros
  /** By the price it had before, where nothing better is known. */
  guess: Micros
}

/** Below this, credit that is higher than the prices explain is taken for blurred clocks, not for a top-up. */
const smallestTopUp = 500_000
/** As a share of what ran up: prices may be wrong too. */
const doubt = 0.1
const cent = 10_000
const dollar = 100 * cent
/** What people top up by, the roundest first. */
const roundAmounts = [
  100 * dollar,
  50 * dollar,
  25 * dollar,
  10 * dollar,
  5 * dollar,
  dollar,
  10 * cent,
  cent,
]

/**
 * What was spent since the last look, and by whom. The sum follows from the credit, which is exact. Shares follow from
 * the prices; what has changed its price, come or gone meanwhile may have done so at any moment, so those have what the
 * credit leaves for them.
 */
export function accrue(before: Counted | undefined, { at, credit, instances, blur = 2 }: Seen): Accrual {
  const counted: Counted = {
    at,
    blur,
    instances: Object.fromEntries(Object.entries(instances).map(([id, one]) => [id, countedAt(one, at)])),
    ...(credit === undefined ? {} : { credit }),
  }
  if (!before) return { counted, spent: 0, toppedUp: 0, shares: new Map() }

  const costs = costsBetween(before, counted)
  const least = sum(costs, 'least')
  const most = sum(costs, 'most')
  if (credit === undefined || before.credit === undefined) {
    const shares = [...costs].map(([id, { guess }]) => [id, guess] as const)
    return { counted, spent: sum(costs, 'guess'), toppedUp: 0, shares: withoutNothing(shares) }
  }
  const fell = before.credit - credit
  const blurred = () => grown(ratesOf(before), before.blur ?? blur) + grown(ratesOf(counted), blur)
  const toppedUp = isTopUp(fell, least) ? topUp(fell, least, most, cent / 2 + blurred()) : 0
  const spent = fell + toppedUp
  const { over = 0 } = before
  const shares = parted(costs, spent - over, least, most)
  const beyond = over - spent + shares.reduce((all, [, share]) => all + share, 0)
  return {
    counted: beyond > 0 ? { ...counted, over: Math.min(beyond, blurred()) } : counted,
    spent,
    toppedUp,
    shares: withoutNothing(shares),
  }
}

function countedAt(instance: InstanceView, at: number): CountedInstance {
  const { state, costPerHour, diskPricePerHour = 0 } = instance
  const known = state !== 'silent' && state !== 'other' && state !== 'stopping'
  const least = Math.min(costPerHour, diskPricePerHour)
  return { spent: spentBy(instance, at), perHour: costPerHour, ...(known ? {} : { least }) }
}

/** By id. Where time went back (a clock was put right) nothing can be said of anyone. */
function costsBetween(before: Counted, after: Counted): ReadonlyMap<string, Cost> {
  const costs = new Map<string, Cost>()
  const seconds = after.at - before.at
  if (seconds < 0) return costs
  for (const [id, now] of Object.entries(after.instances)) {
    const then = before.instances[id]
    if (!then) {
      const most = Math.min(now.spent, grown(now.perHour, seconds))
      costs.set(id, { least: 0, most, guess: most })
      continue
    }
    const lowest = grown(Math.min(then.least ?? then.perHour, now.least ?? now.perHour), seconds)
    const highest = grown(Math.max(then.perHour, now.perHour), seconds)
    // What it has cost in all may have been taken up from an older look than this, after a kill. Rounding gives the one.
    const guess = Math.min(Math.max(lowest, now.spent - then.spent), highest + 1)
    const sure = lowest === highest
    costs.set(id, { least: sure ? guess : lowest, most: sure ? guess : highest, guess })
  }
  for (const [id, then] of Object.entries(before.instances)) {
    const most = grown(then.perHour, seconds)
    if (!(id in after.instances)) costs.set(id, { least: 0, most, guess: most })
  }
  return costs
}

/** Whether the credit fell by less than what ran up at the least. */
function isTopUp(fell: Micros, least: Micros): boolean {
  return fell < 0 || least - fell > Math.max(smallestTopUp, least * doubt)
}

/** What was paid in, given how far the credit fell and what ran up: the roundest sum that explains it. */
function topUp(fell: Micros, least: Micros, most: Micros, blur: Micros): Micros {
  const lowest = Math.max(least - fell - blur, -fell, 1)
  const highest = most - fell + blur
  const middle = (least + most) / 2 - fell
  for (const amount of roundAmounts) {
    const nearest = [Math.round(middle / amount) * amount, Math.ceil(lowest / amount) * amount]
    const found = nearest.find(sum => sum >= lowest && sum <= highest)
    if (found !== undefined) return found
  }
  return Math.max(Math.round(middle / cent) * cent, -fell)
}

function ratesOf({ instances }: Counted): Micros {
  return Object.values(instances).reduce((all, { perHour }) => all + perHour, 0)
}

/** Each instance's share of what was spent: what is left beside the least of all is parted by what each may have cost more. */
function parted(
  costs: ReadonlyMap<string, Cost>,
  spent: Micros,
  least: Micros,
  most: Micros,
): (readonly [string, Micros])[] {
  const share = most > least ? Math.min(1, Math.max(0, (spent - least) / (most - least))) : 0
  return [...costs].map(([id, cost]) => [id, cost.least + Math.floor((cost.most - cost.least) * share)])
}

function withoutNothing(shares: readonly (readonly [string, Micros])[]): ReadonlyMap<string, Micros> {
  return new Map(shares.filter(([, share]) => share > 0))
}

function grown(perHour: Micros, seconds: number): Micros {
  return Math.max(0, Math.floor((perHour * seconds) / 3600))
}

function sum(costs: ReadonlyMap<string, Cost>, which: keyof Cost): Micros {
  let total = 0
  for (const cost of costs.values()) total += cost[which]
  return total
}
