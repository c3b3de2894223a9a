import type { InstanceView } from '../../contract/instance/instance.ts'
import { spentBy } from '../../contract/reading.ts'
import type { Micros } from '../../contract/spending/money.ts'

/** What has been counted already, up to a moment of the account's time. */
export interface Counted {
  /** Epoch seconds. */
  at: number
  credit?: Micros | undefined
  /** By id: what the instance had cost in all by then, and what it cost per hour. */
  instances: Record<string, { spent: Micros; perHour: Micros }>
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
}

/** Below this, credit that is higher than the prices explain is taken for blurred clocks, not for a top-up. */
const smallestTopUp = 500_000
/** As a share of what ran up: clocks blur more over longer times. */
const blur = 0.1
const cent = 10_000

/**
 * What was spent since the last look, and by whom. Shares follow from the prices; the sum follows from the credit,
 * which is exact. What has changed its price or has gone meanwhile may have done so at any moment: where the credit
 * says that less was spent, those had less.
 */
export function accrue(before: Counted | undefined, { at, credit, instances }: Seen): Accrual {
  const counted: Counted = {
    at,
    instances: Object.fromEntries(
      Object.entries(instances).map(([id, instance]) => [
        id,
        { spent: spentBy(instance, at), perHour: instance.costPerHour },
      ]),
    ),
    ...(credit === undefined ? {} : { credit }),
  }
  // Time that went back: another world, or a clock put right.
  if (!before || at < before.at) return { counted, spent: 0, toppedUp: 0, shares: new Map() }

  const sure = new Map<string, Micros>()
  const unsure = new Map<string, Micros>()
  for (const [id, now] of Object.entries(counted.instances)) {
    const then = before.instances[id]
    if (!then) unsure.set(id, Math.min(now.spent, grown(now.perHour, at - before.at)))
    else (then.perHour === now.perHour ? sure : unsure).set(id, Math.max(0, now.spent - then.spent))
  }
  for (const [id, then] of Object.entries(before.instances))
    if (!(id in counted.instances)) unsure.set(id, grown(then.perHour, at - before.at))

  const certain = sum(sure.values())
  const ranUp = certain + sum(unsure.values())
  if (credit === undefined || before.credit === undefined)
    return { counted, spent: ranUp, toppedUp: 0, shares: withoutNothing([...sure, ...unsure]) }

  const { spent, toppedUp } = byCredit(before.credit - credit, ranUp, unsure.size === 0)
  const left = toppedUp === 0 ? Math.max(0, spent - certain) : Number.POSITIVE_INFINITY
  return { counted, spent, toppedUp, shares: withoutNothing([...sure, ...atMost(unsure, left)]) }
}

/** What fell of the credit, given what the prices say that ran up. */
function byCredit(fell: Micros, ranUp: Micros, sure: boolean): { spent: Micros; toppedUp: Micros } {
  const missing = ranUp - fell
  const toppedUp = fell < 0 || (sure && missing > Math.max(smallestTopUp, ranUp * blur))
  if (!toppedUp) return { spent: fell, toppedUp: 0 }
  // Top-ups are whole cents; what lies between is spent.
  const cents = Math.round(missing / cent) * cent
  const amount = cents + fell < 0 ? -fell : cents
  return { spent: amount + fell, toppedUp: amount }
}

/** The same shares scaled down so that they add up to `most`, where they add up to more. */
function atMost(shares: ReadonlyMap<string, Micros>, most: Micros): [string, Micros][] {
  const total = sum(shares.values())
  if (total <= most) return [...shares]
  return [...shares].map(([id, share]) => [id, Math.floor((share * most) / total)])
}

function withoutNothing(shares: readonly (readonly [string, Micros])[]): ReadonlyMap<string, Micros> {
  return new Map(shares.filter(([, share]) => share > 0))
}

function grown(perHour: Micros, seconds: number): Micros {
  return Math.max(0, Math.floor((perHour * seconds) / 3600))
}

function sum(amounts: Iterable<Micros>): Micros {
  let total = 0
  for (const amount of amounts) total += amount
  return total
}
