import { spentBy } from '#shared/derived.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import type { InstanceUse } from '#shared/spending/history.ts'
import type { Micros } from '#shared/spending/money.ts'
import { isAtRest } from '../endings/step.ts'
import { shortestBreak } from '../instances/reconcile.ts'

/** The account as of the last poll that was counted. */
export interface Counted {
  /** Epoch seconds of the account's time. */
  at: number
  credit?: Micros
  /** What is left of what was prepaid for all instances: their hours take from it rather than from the credit. */
  prepaid?: Micros
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
  /** It is stopped, and meant to be: it runs only if somebody starts it. */
  rests?: boolean
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
  /** The parts of `shares`, by id, that only the credit tells, or only prices: something else may have cost that, or nothing. */
  inferred: ReadonlyMap<string, Micros>
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
 * may have stopped or started unseen, but none costs more than it can have; the rest is nobody's. The sum is marked as
 * estimated then where prices and credit disagree. Traffic that only a counter tells comes last: no other instance's
 * cost is less for it, and on a stopped instance it costs nothing that did not leave the account. What is prepaid is part
 * of the credit here, until the instance has used it.
 */
export function accrueSpending(
  before: Counted | undefined,
  {
    at,
    credit,
    instances,
  }: { at: number; credit?: Micros; instances: Readonly<Record<string, InstanceView>> },
): Accrual {
  const prepaid = Object.values(instances).reduce((total, one) => total + (one.prepaid?.left ?? 0), 0)
  const counted = { at, credit, instances: countedInstances(instances, at), ...(prepaid > 0 && { prepaid }) }
  const nothing = {
    spent: 0,
    toppedUp: 0,
    standsStill: false,
    estimated: false,
    shares: new Map(),
    uses: new Map(),
    corrected: new Map(),
    inferred: new Map(),
  }
  if (!before) return { counted, ...nothing }

  const priced = pricedShares(before, counted)
  const expected = sum(priced)
  const divided = (shares: ReadonlyMap<string, Micros>) => ({ shares, uses: usesOf(before, counted, shares) })
  const away = at - before.at > shortestBreak
  const traffic = trafficShares(before, counted, priced)
  const claims = () => claimsOf(before, counted, priced, traffic, instances, away)
  if (credit === undefined || before.credit === undefined) {
    if (!away) return { counted, ...nothing, spent: expected, ...divided(priced) }
    const claimed = claims()
    const { costs, inferred } = limitedCosts(claimed, sharesOf(expected, claimed, false), false)
    const corrected = correctTotals(before, counted, costs)
    return { counted, ...nothing, spent: expected, ...divided(priced), corrected, inferred }
  }

  const fell = before.credit + (before.prepaid ?? 0) - credit - prepaid
  const isUnexplained = expected - fell > unexplained
  const paid = isUnexplained && fell < 0 ? Math.round((expected - fell) / cent) * cent : 0
  const toppedUp = Math.max(paid, Math.ceil(Math.max(0, -fell) / cent) * cent)
  const spent = fell + toppedUp
  const disproved = isUnexplained && fell >= 0 && fell < expected / 2
  const ran = (perHourOf(before) * (at - before.at)) / 3600
  const standsStill = fell === 0 && ran > unexplained && at - before.at < longestStill
  const known = { counted, spent, toppedUp, standsStill, estimated: away && isUnexplained }
  if (away || disproved) {
    // Where something was paid in, the credit confirms no price.
    const claimed = claims()
    const isConfirmed = toppedUp === 0
    const divisions = sharesOf(spent, claimed, isConfirmed)
    const { shares } = divisions
    const { costs, inferred } = away
      ? limitedCosts(claimed, divisions, isConfirmed)
      : { costs: shares, inferred: divisions.inferred }
    const corrected = correctTotals(before, counted, costs)
    return { ...known, ...divided(shares), corrected, inferred }
  }
  const unpaid = unpaidTraffic(before, counted, traffic, spent - expected)
  const shares = new Map([...priced].map(([id, share]) => [id, share - (unpaid.get(id) ?? 0)]))
  const corrected = correctTotals(before, counted, shares, unpaid)
  return { ...known, ...divided(shares), corrected, inferred: new Map() }
}

function countedInstances(views: Readonly<Record<string, InstanceView>>, at: number): Counted['instances'] {
  return Object.fromEntries(
    Object.entries(views).map(([id, view]) => {
      const { costPerHour, pricePerHour = 0, diskPricePerHour: disk, traffic, state, intendedStatus } = view
      const running = Math.max(costPerHour, pricePerHour)
      const rests = isAtRest(state) && intendedStatus !== 'running'
      const counted = {
        spent: spentBy(view, at),
        perHour: costPerHour,
        running,
        disk,
        traffic: traffic?.spent,
      }
      return [id, rests ? { ...counted, rests } : counted]
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
  const claims = new Map(
    [...traffic].filter(
      ([id, claim]) => claim > 0 && isStopped(before.instances[id]) && isStopped(after.instances[id]),
    ),
  )
  const claimed = sum(claims)
  return claimed + beyond < claimed / 2 ? claims : new Map()
}

/** Whether its GPUs are not charged. */
function isStopped(at: CountedInstance | undefined): boolean {
  return at !== undefined && at.perHour < at.running
}

/**
 * What an instance has a claim to between two polls, the surest part first. Each is met from what left the account as
 * far as that goes, for all instances in proportion, before the next one.
 */
interface Claims {
  /** Its disk, or as little as it cost per hour at either poll. */
  disk: Micros
  /** Its GPUs, which ran at both polls or are known to have run. */
  ran: Micros
  /** Its GPUs, where they may have stopped at any time in between. */
  mayHaveRan: Micros
  /** Measured traffic. */
  traffic: Micros
  /** What else it can have cost, by its highest known price over the time. */
  more: Micros
  /** Whether it ran at both polls. */
  runs: boolean
}

/** In the order in which they are met. */
const claimKinds = ['disk', 'ran', 'mayHaveRan', 'traffic', 'more'] as const

function claimsOf(
  before: Counted,
  after: Counted,
  priced: ReadonlyMap<string, Micros>,
  traffic: ReadonlyMap<string, Micros>,
  instances: Readonly<Record<string, InstanceView>>,
  away: boolean,
): Map<string, Claims> {
  const all = new Map<string, Claims>()
  for (const id of new Set([...Object.keys(before.instances), ...Object.keys(after.instances)])) {
    const [then, now] = [before.instances[id], after.instances[id]]
    const seen = [then, now].filter(one => one !== undefined)
    const from = then ? before.at : Math.max(before.at, instances[id]?.startedAt ?? before.at)
    const hours = Math.max(0, after.at - from) / 3600
    const [price, moved] = [priced.get(id) ?? 0, traffic.get(id) ?? 0]
    const timed = price - moved
    const least = Math.min(
      ...seen.map(one => (isStopped(one) ? one.perHour : Math.min(one.perHour, one.disk ?? 0))),
    )
    const disk = Math.min(timed, Math.floor(least * hours))
    // One that rests at both polls has not run, unless its traffic tells that it did.
    const rested = moved === 0 && seen.every(({ rests }) => rests)
    const highest = Math.max(...seen.map(({ perHour, running }) => (rested ? perHour : running)))
    const unsure = away && (!then || !now || (!isStopped(then) && isStopped(now)))
    all.set(id, {
      disk,
      ran: unsure ? 0 : timed - disk,
      mayHaveRan: unsure ? timed - disk : 0,
      traffic: moved,
      more: Math.max(0, Math.floor(highest * hours) - timed),
      runs: seen.length === 2 && seen.every(one => !one.rests && !isStopped(one)),
    })
  }
  return all
}

/**
 * Divides what was spent: each kind of claim in full while there is enough, else in proportion. `confirmed`: whether the
 * credit tells how much that was.
 */
function sharesOf(
  spent: Micros,
  claims: ReadonlyMap<string, Claims>,
  confirmed: boolean,
): { shares: Map<string, Micros>; inferred: Map<string, Micros> } {
  const met = new Map<(typeof claimKinds)[number], number>()
  let left = Math.max(0, spent)
  for (const kind of claimKinds) {
    const claimed = [...claims.values()].reduce((total, one) => total + one[kind], 0)
    met.set(kind, claimed > left ? left / claimed : 1)
    left -= Math.min(left, claimed)
  }
  const [shares, inferred] = [new Map<string, Micros>(), new Map<string, Micros>()]
  for (const [id, one] of claims) {
    const part = (kind: (typeof claimKinds)[number]) => one[kind] * (met.get(kind) ?? 0)
    const unsure = part('mayHaveRan') + part('more') + (confirmed ? 0 : part('ran'))
    const share = Math.floor(part('disk') + part('traffic') + (confirmed ? part('ran') : 0) + unsure)
    if (share > 0) shares.set(id, share)
    if (unsure >= 1) inferred.set(id, Math.floor(unsure))
  }
  return { shares, inferred }
}

/**
 * What instances cost over a break by their limits: one that ran at both polls costs at least its price, also where less left
 * the credit, as it was prepaid; and where the credit doesn't tell how much it was, each costs as much as it can have, as
 * after a rise of its price. What the credit does not confirm of it is inferred.
 */
function limitedCosts(
  claims: ReadonlyMap<string, Claims>,
  { shares, inferred: unconfirmed }: ReturnType<typeof sharesOf>,
  isConfirmed: boolean,
): { costs: Map<string, Micros>; inferred: Map<string, Micros> } {
  const [costs, inferred] = [new Map(shares), new Map(unconfirmed)]
  for (const [id, claim] of claims) {
    const least = claim.runs ? claim.disk + claim.ran : 0
    const most = claimKinds.reduce((total, kind) => total + claim[kind], 0)
    const cost = isConfirmed ? least : most
    const more = cost - (shares.get(id) ?? 0)
    if (more <= 1) continue
    costs.set(id, cost)
    inferred.set(id, (unconfirmed.get(id) ?? 0) + more)
  }
  return { costs, inferred }
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
