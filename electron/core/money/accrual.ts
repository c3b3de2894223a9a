import type { InstanceView } from '../../contract/instance/instance.ts'
import type { Micros } from '../../contract/spending/money.ts'
import {
  type Bound,
  type Cost,
  type Counted,
  costOverTime,
  costsBetween,
  countedAt,
  shortestAbsence,
} from './costs.ts'
import { asRemembered, withParts } from './silence.ts'
import { likeliestTopUp } from './top-up.ts'

/** The additions of a poll to the record. */
export interface Accrual {
  counted: Counted
  /** The amount that left the account: by the credit if both polls have it, else by the prices. */
  spent: Micros
  toppedUp: Micros
  /** Whether `toppedUp`, and with it `spent`, is only the likeliest amount. */
  estimated: boolean
  /** How much of `spent` each instance cost, by id, including those destroyed meanwhile. */
  shares: ReadonlyMap<string, Micros>
  /** Corrected total costs, by id, of instances that cost something else than their price while Berth was away. */
  inAll: ReadonlyMap<string, Micros>
}

export interface Seen {
  at: number
  credit?: Micros
  instances: Readonly<Record<string, InstanceView>>
  /** Seconds by which `at` may be wrong; 2 by default. */
  uncertainty?: number
}

/**
 * The spending since the last poll, in all and by each instance. The sum follows from the credit, which is exact. The
 * shares follow from the prices. An instance that was rented, destroyed or changed its price in between may have done
 * so at any moment, so these instances share the remainder of the sum after the certain ones.
 */
export function accrueSpending(
  before: Counted | undefined,
  { at, credit, instances, uncertainty = 2 }: Seen,
): Accrual {
  const counted: Counted = {
    at,
    uncertainty,
    instances: Object.fromEntries(Object.entries(instances).map(([id, one]) => [id, countedAt(one, at)])),
    credit,
  }
  if (!before)
    return { counted, spent: 0, toppedUp: 0, estimated: false, shares: new Map(), inAll: new Map() }

  const costs = costsBetween(before, counted, instances)
  if (credit === undefined || before.credit === undefined) {
    const shares = [...costs].map(([id, { guess }]) => [id, guess] as const)
    const spent = shares.reduce((all, [, share]) => all + share, 0)
    return { counted, spent, toppedUp: 0, estimated: false, shares: withoutNothing(shares), inAll: new Map() }
  }
  const fell = before.credit - credit
  const uncertainAmount =
    costOverTime(ratesOf(before), before.uncertainty ?? uncertainty) +
    costOverTime(ratesOf(counted), uncertainty)
  const { sum: toppedUp, estimated } = likeliestTopUp({
    fell,
    length: at - before.at,
    costs: [...costs.values()],
    uncertainty: uncertainAmount,
  })
  const spent = fell + toppedUp
  const { over = 0 } = before
  const left = spent - over
  const remembered = asRemembered(costs, before)
  const fits =
    left >= sum(remembered, 'least') - uncertainAmount && left <= sum(remembered, 'most') + uncertainAmount
  const away = at - before.at > shortestAbsence
  const shares = splitSpending(fits ? remembered : costs, left, uncertainAmount, away)
  const beyond = over - spent + shares.reduce((all, [, share]) => all + share, 0)
  const inAll = away ? costsInAll(before, counted, shares) : new Map<string, Micros>()
  const parts = withParts(withCosts(counted, inAll), before, costs, new Map(shares))
  return {
    counted: beyond > 0 ? { ...parts, over: Math.min(beyond, uncertainAmount) } : parts,
    spent,
    toppedUp,
    estimated,
    shares: withoutNothing(shares),
    inAll,
  }
}

/** The corrected total costs of instances in both polls; a difference of one micro-dollar is rounding. */
function costsInAll(
  before: Counted,
  counted: Counted,
  shares: readonly (readonly [string, Micros])[],
): ReadonlyMap<string, Micros> {
  const both = shares.flatMap(([id, share]) => {
    const [then, now] = [before.instances[id], counted.instances[id]]
    if (!then || !now || Math.abs(then.spent + share - now.spent) <= 1) return []
    return [[id, then.spent + share] as const]
  })
  return new Map(both)
}

function withCosts(counted: Counted, inAll: ReadonlyMap<string, Micros>): Counted {
  const instances = Object.entries(counted.instances).map(
    ([id, one]) => [id, { ...one, spent: inAll.get(id) ?? one.spent }] as const,
  )
  return { ...counted, instances: Object.fromEntries(instances) }
}

function ratesOf({ instances }: Counted): Micros {
  return Object.values(instances).reduce((all, { perHour }) => all + perHour, 0)
}

/**
 * Each instance's share of the spending: it gets its minimum, and the rest is split by how much more each may have
 * cost. After an absence, instances may have cost less than that minimum, and next to nothing if a clock jumped.
 */
function splitSpending(
  costs: ReadonlyMap<string, Cost>,
  spent: Micros,
  uncertainty: Micros,
  away: boolean,
): (readonly [string, Micros])[] {
  const bounds = {
    nothing: 0,
    lowest: sum(costs, 'lowest'),
    least: sum(costs, 'least'),
    most: sum(costs, 'most'),
  }
  const [from, to] =
    !away || spent >= bounds.least - uncertainty
      ? (['least', 'most'] as const)
      : spent >= bounds.lowest - uncertainty
        ? (['lowest', 'least'] as const)
        : (['nothing', 'lowest'] as const)
  const [low, high] = [bounds[from], bounds[to]]
  const share = high > low ? Math.min(1, Math.max(0, (spent - low) / (high - low))) : 0
  return [...costs].map(([id, cost]) => {
    const base = from === 'nothing' ? 0 : cost[from]
    return [id, base + Math.floor((cost[to] - base) * share)]
  })
}

function withoutNothing(shares: readonly (readonly [string, Micros])[]): ReadonlyMap<string, Micros> {
  return new Map(shares.filter(([, share]) => share > 0))
}

function sum(costs: ReadonlyMap<string, Cost>, which: Bound): Micros {
  let total = 0
  for (const cost of costs.values()) total += cost[which]
  return total
}
