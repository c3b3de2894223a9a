import { spentBy } from '#shared/derived.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import type { InstanceUse } from '#shared/spending/history.ts'
import type { Micros } from '#shared/spending/money.ts'
import { shortestBreak } from '../instances/reconcile.ts'

/** The account as of the last poll that was counted. */
export interface Counted {
  /** Epoch seconds of the account's time. */
  at: number
  credit?: Micros
  /** By instance id. */
  instances: Record<string, CountedInstance>
}

/** An instance's total cost and total cost of traffic at a poll, and its prices per hour. */
export interface CountedInstance {
  spent: Micros
  perHour: Micros
  /** The price while it runs, and of its disk alone. */
  running: Micros
  disk?: Micros
  traffic?: Micros
}

/** The additions of a poll to the record. */
export interface Accrual {
  counted: Counted
  /** The amount that left the account: by the credit if both polls have it, else by the prices. */
  spent: Micros
  toppedUp: Micros
  /** The credit stands still against what ran: it may be told in steps, so this poll is better counted with a later one. */
  standsStill: boolean
  /** Whether `toppedUp`, and with it `spent`, is only the likeliest amount. */
  estimated: boolean
  /** How much of `spent` each instance cost, by id, including those destroyed meanwhile. */
  shares: ReadonlyMap<string, Micros>
  /** How each share divides. */
  uses: ReadonlyMap<string, InstanceUse>
  /** Corrected total costs, by id, of instances that cost something else than their price while Berth was away. */
  corrected: ReadonlyMap<string, Micros>
}

/** Prices explain the credit to within this amount. */
export const unexplained = 500_000
const cent = 10_000

/** Seconds for which a credit that stands still disproves no price. */
const longestStill = 120

/**
 * The spending since the last poll: each instance costs its price over the time, and the sum is the fall of the credit.
 * If the credit rose, what the prices don't explain was paid in, to the cent. One that fell by less than half of what the
 * prices say disproves them: the instances share what left the account. They also do after a longer break, in which one
 * may have stopped or started unseen; the sum is marked as estimated then where prices and credit disagree. Traffic that
 * only a counter tells comes last: no other instance's cost is less for it, and on a stopped instance it costs nothing
 * that did not leave the account.
 */
export function accrueSpending(
  before: Counted | undefined,
  {
    at,
    credit,
    instances,
  }: { at: number; credit?: Micros; instances: Readonly<Record<string, InstanceView>> },
): Accrual {
  const counted = { at, credit, instances: countedInstances(instances, at) }
  const nothing = {
    spent: 0,
    toppedUp: 0,
    standsStill: false,
    estimated: false,
    shares: new Map(),
    uses: new Map(),
    corrected: new Map(),
  }
  if (!before) return { counted, ...nothing }

  const priced = pricedShares(before, counted)
  const expected = sum(priced)
  const divided = (shares: ReadonlyMap<string, Micros>) => ({ shares, uses: usesOf(before, counted, shares) })
  if (credit === undefined || before.credit === undefined)
    return { counted, ...nothing, spent: expected, ...divided(priced) }

  const fell = before.credit - credit
  const away = at - before.at > shortestBreak
  const isUnexplained = expected - fell > unexplained
  const paid = isUnexplained && fell < 0 ? Math.round((expected - fell) / cent) * cent : 0
  const toppedUp = Math.max(paid, Math.ceil(Math.max(0, -fell) / cent) * cent)
  const spent = fell + toppedUp
  const disproved = isUnexplained && fell >= 0 && fell < expected / 2
  const ran = (perHourOf(before) * (at - before.at)) / 3600
  const standsStill = fell === 0 && ran > unexplained && at - before.at < longestStill
  const known = { counted, spent, toppedUp, standsStill, estimated: away && isUnexplained }
  const traffic = trafficShares(before, counted, priced)
  if (away || disproved) {
    const shares = sharesOf(spent, priced, traffic, mostShares(before, counted, priced))
    return { ...known, ...divided(shares), corrected: correctTotals(before, counted, shares) }
  }
  const unpaid = unpaidTraffic(before, counted, traffic, spent - expected)
  const shares = new Map([...priced].map(([id, share]) => [id, share - (unpaid.get(id) ?? 0)]))
  return { ...known, ...divided(shares), corrected: correctTotals(before, counted, shares, unpaid) }
}

function countedInstances(views: Readonly<Record<string, InstanceView>>, at: number): Counted['instances'] {
  return Object.fromEntries(
    Object.entries(views).map(([id, view]) => {
      const { costPerHour, pricePerHour = 0, diskPricePerHour: disk, traffic } = view
      const running = Math.max(costPerHour, pricePerHour)
      return [id, { spent: spentBy(view, at), perHour: costPerHour, running, disk, traffic: traffic?.spent }]
    }),
  )
}

/** How each share divides: measured traffic, the disk at its price over the time, and the rest for the GPUs. */
function usesOf(
  before: Counted,
  after: Counted,
  shares: ReadonlyMap<string, Micros>,
): Map<string, InstanceUse> {
  const seconds = Math.max(0, after.at - before.at)
  return new Map(
    [...shares].map(([id, share]) => {
      const [then, now] = [before.instances[id], after.instances[id]]
      const { running = 0, disk: diskPrice = 0 } = now ?? then ?? {}
      const traffic = Math.min(share, Math.max(0, (now?.traffic ?? 0) - (then?.traffic ?? 0)))
      const disk = Math.min(share - traffic, Math.floor((diskPrice * seconds) / 3600))
      const gpu = share - traffic - disk
      const perHour = running - diskPrice
      const ran = perHour > 0 ? Math.min(seconds, Math.round((gpu / perHour) * 3600)) : 0
      return [id, { gpu, disk, traffic, ran }]
    }),
  )
}

/** Each instance's cost between two polls by its price; where time went back, as its cost went on. */
function pricedShares(before: Counted, after: Counted): Map<string, Micros> {
  const hours = (after.at - before.at) / 3600
  const shares = new Map<string, Micros>()
  for (const id of new Set([...Object.keys(before.instances), ...Object.keys(after.instances)])) {
    const [then, now] = [before.instances[id], after.instances[id]]
    const most = Math.floor(((now ?? then)?.perHour ?? 0) * Math.max(0, hours))
    // A new one counts from its start, at most from the last poll, as a list may have lacked it before.
    const newest = most + (now?.traffic ?? 0)
    const share = then && now ? now.spent - then.spent : Math.min(now?.spent ?? most, newest)
    if (share > 0) shares.set(id, share)
  }
  return shares
}

/** The part of each share that is the charge for measured traffic. */
function trafficShares(
  before: Counted,
  after: Counted,
  shares: ReadonlyMap<string, Micros>,
): Map<string, Micros> {
  return new Map(
    [...shares].map(([id, share]) => {
      const [then, now] = [before.instances[id], after.instances[id]]
      return [id, Math.min(share, Math.max(0, (now?.traffic ?? 0) - (then?.traffic ?? 0)))]
    }),
  )
}

/** The traffic of stopped instances, if less than half of it left the account beyond all else. */
function unpaidTraffic(
  before: Counted,
  after: Counted,
  traffic: ReadonlyMap<string, Micros>,
  beyond: Micros,
): ReadonlyMap<string, Micros> {
  const isStopped = (at: CountedInstance | undefined) => at !== undefined && at.perHour < at.running
  const claims = new Map(
    [...traffic].filter(
      ([id, claim]) => claim > 0 && isStopped(before.instances[id]) && isStopped(after.instances[id]),
    ),
  )
  const claimed = sum(claims)
  return claimed + beyond < claimed / 2 ? claims : new Map()
}

/** The most that each instance may have cost between two polls: it may have run all the time. */
function mostShares(
  before: Counted,
  after: Counted,
  priced: ReadonlyMap<string, Micros>,
): Map<string, Micros> {
  const hours = (after.at - before.at) / 3600
  const prices = { ...before.instances, ...after.instances }
  return new Map(
    Object.entries(prices).map(([id, { running }]) => [
      id,
      Math.max(priced.get(id) ?? 0, Math.floor(running * hours)),
    ]),
  )
}

/**
 * Parts of the spent amount: less than by the prices in proportion, their `traffic` first, or more, up to the most of
 * each.
 */
function sharesOf(
  spent: Micros,
  priced: ReadonlyMap<string, Micros>,
  traffic: ReadonlyMap<string, Micros>,
  most: ReadonlyMap<string, Micros>,
): Map<string, Micros> {
  const [expected, highest, claimed] = [sum(priced), sum(most), sum(traffic)]
  const timed = expected - claimed
  const ofTime = spent < timed ? spent / timed : 1
  const ofTraffic = claimed > 0 ? Math.min(1, Math.max(0, spent - timed) / claimed) : 1
  const more = spent > expected && highest > expected ? (spent - expected) / (highest - expected) : 0
  const shares = new Map<string, Micros>()
  for (const [id, high] of most) {
    const [price, charge] = [priced.get(id) ?? 0, traffic.get(id) ?? 0]
    const less = (price - charge) * ofTime + charge * ofTraffic
    const share = Math.floor(less + (high - price) * Math.min(1, more))
    if (share > 0) shares.set(id, share)
  }
  return shares
}

/** The total costs of instances in both polls, where their share is not their price: also written to `after`. */
function correctTotals(
  before: Counted,
  after: Counted,
  shares: ReadonlyMap<string, Micros>,
  only?: ReadonlyMap<string, Micros>,
): Map<string, Micros> {
  const corrected = new Map<string, Micros>()
  for (const [id, now] of Object.entries(after.instances)) {
    if (only && !only.has(id)) continue
    const then = before.instances[id]
    const total = (then?.spent ?? 0) + (shares.get(id) ?? 0)
    // A difference of one micro-dollar is rounding.
    if (!then || Math.abs(total - now.spent) <= 1) continue
    now.spent = total
    corrected.set(id, total)
  }
  return corrected
}

function perHourOf({ instances }: Counted): Micros {
  return Object.values(instances).reduce((total, { perHour }) => total + perHour, 0)
}

function sum(shares: ReadonlyMap<string, Micros>): Micros {
  return [...shares.values()].reduce((total, share) => total + share, 0)
}
