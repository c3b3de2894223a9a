import type { InstanceView } from '../../contract/instance/instance.ts'
import { spentBy } from '../../contract/reading.ts'
import type { Micros } from '../../contract/spending/money.ts'
import { shortestBreak } from '../instances/reconcile.ts'

/** The account as of the last poll that was counted. */
export interface Counted {
  /** Epoch seconds of the account's time. */
  at: number
  credit?: Micros
  /** By instance id: the total cost at that poll, and the price per hour. */
  instances: Record<string, { spent: Micros; perHour: Micros }>
}

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
  /** Corrected total costs, by id, of instances that cost less than their price while Berth was away. */
  corrected: ReadonlyMap<string, Micros>
}

/** Prices explain the credit to within this amount; more was paid in. */
const tolerance = 500_000
const cent = 10_000

/**
 * The spending since the last poll: each instance costs its price over the time, and the sum is the fall of the credit.
 * If the credit is higher than the prices explain, the difference was paid in, to the cent. Seconds of a longer break
 * may have passed without some of the instances, so then only a credit that rose counts as a payment, the sum is
 * marked as estimated where prices and credit disagree, and the instances share the amount that left the account.
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
  const nothing = { spent: 0, toppedUp: 0, estimated: false, shares: new Map(), corrected: new Map() }
  if (!before) return { counted, ...nothing }

  const priced = pricedShares(before, counted)
  const expected = [...priced.values()].reduce((sum, share) => sum + share, 0)
  if (credit === undefined || before.credit === undefined)
    return { counted, ...nothing, spent: expected, shares: priced }

  const fell = before.credit - credit
  const away = at - before.at > shortestBreak
  const unexplained = expected - fell > tolerance
  const paid = unexplained && (!away || fell < 0) ? Math.round((expected - fell) / cent) * cent : 0
  const toppedUp = Math.max(paid, Math.ceil(Math.max(0, -fell) / cent) * cent)
  const spent = fell + toppedUp
  const estimated = away && unexplained
  if (!away || spent >= expected)
    return { counted, spent, toppedUp, estimated, shares: priced, corrected: new Map() }
  const shares = new Map<string, Micros>()
  const corrected = new Map<string, Micros>()
  for (const [id, price] of priced) {
    const share = Math.floor((price * spent) / expected)
    if (share > 0) shares.set(id, share)
    const [then, now] = [before.instances[id], counted.instances[id]]
    if (!then || !now) continue
    now.spent = then.spent + share
    corrected.set(id, now.spent)
  }
  return { counted, spent, toppedUp, estimated, shares, corrected }
}

function countedInstances(views: Readonly<Record<string, InstanceView>>, at: number): Counted['instances'] {
  return Object.fromEntries(
    Object.entries(views).map(([id, view]) => [id, { spent: spentBy(view, at), perHour: view.costPerHour }]),
  )
}

/** Each instance's cost between two polls by its price. Empty if time went back, as when a clock was corrected. */
function pricedShares(before: Counted, after: Counted): Map<string, Micros> {
  const hours = (after.at - before.at) / 3600
  const shares = new Map<string, Micros>()
  if (hours < 0) return shares
  for (const id of new Set([...Object.keys(before.instances), ...Object.keys(after.instances)])) {
    const [then, now] = [before.instances[id], after.instances[id]]
    // A new one has cost what it shows, at most since the last poll, as it may have been missing from a list.
    const grown = now ? now.spent - (then?.spent ?? 0) : undefined
    const most = Math.floor((now ?? then)?.perHour ?? 0) * hours
    const share = Math.floor(then && grown !== undefined ? grown : Math.min(grown ?? most, most))
    if (share > 0) shares.set(id, share)
  }
  return shares
}
