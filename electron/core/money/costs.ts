import type { InstanceView } from '../../contract/instance/instance.ts'
import { hasTrait } from '../../contract/instance/state-traits.ts'
import { spentBy } from '../../contract/reading.ts'
import type { Micros } from '../../contract/spending/money.ts'
import { shortestBreak } from '../instances/reconcile.ts'
import { ranAtLeast } from '../instances/spending.ts'

/** The account as of the last poll that was counted. */
export interface Counted {
  /** Epoch seconds of the account's time, and by how many they may be wrong. */
  at: number
  uncertainty?: number
  credit?: Micros
  /** By instance id. */
  instances: Record<string, CountedInstance>
  /** By how much the shares so far exceed what left the account, since clocks are not exact; taken off later shares. */
  over?: Micros
}

/** The total cost of an instance at that poll, and its prices per hour. */
export interface CountedInstance {
  spent: Micros
  perHour: Micros
  /** The lowest price it may have been charged, if that is not certain: a silent host may charge the disk alone. */
  least?: Micros
  /** For a silent host: where between `least` (0) and `perHour` (1) its charge was when that was last certain. */
  part?: number
  /** Its price while stopped, if that is lower than `perHour`. */
  disk?: Micros
  /** It is starting. */
  booting?: true
  /** Its price once it runs, if that is higher: while Berth is away it may run and be destroyed again. */
  running?: Micros
  /** The cost of its traffic, if that is measured; it is exact, and comes on top of the prices. */
  traffic?: Micros
}

/** What an instance may have cost between two polls. If that is certain, `least`, `most` and `guess` are equal. */
export interface Cost {
  least: Micros
  most: Micros
  /** The likeliest, by its price at the earlier poll. */
  guess: Micros
  /** Below `least` if it may have been stopped for a while between the polls. */
  lowest: Micros
  /** Its host was silent at both polls. */
  silent?: true
}

export type Bound = Exclude<keyof Cost, 'silent'>

/**
 * Seconds between two polls from which Berth counts as having been away: an instance may have been stopped and started
 * again in between.
 */
export const shortestAbsence = shortestBreak

export function countedAt(instance: InstanceView, at: number): CountedInstance {
  const { state, costPerHour, diskPricePerHour = 0, pricePerHour = 0, traffic } = instance
  const known = !hasTrait(state, 'priceUnsure')
  const disk = Math.min(costPerHour, diskPricePerHour)
  const booting = hasTrait(state, 'booting') || state === 'waiting'
  return {
    spent: spentBy(instance, at),
    perHour: costPerHour,
    least: known ? undefined : disk,
    disk: disk < costPerHour ? disk : undefined,
    booting: booting || undefined,
    running: booting && pricePerHour > costPerHour ? pricePerHour : undefined,
    traffic: traffic?.spent || undefined,
  }
}

/** The cost of each instance between two polls, by id. Empty if time went back, as when a clock was corrected. */
export function costsBetween(
  before: Counted,
  after: Counted,
  seen: Readonly<Record<string, InstanceView>>,
): ReadonlyMap<string, Cost> {
  const costs = new Map<string, Cost>()
  const seconds = after.at - before.at
  if (seconds < 0) return costs
  for (const [id, view] of Object.entries(seen)) {
    const now = after.instances[id]
    if (now) costs.set(id, costOf(view, before.instances[id], now, before, after.at))
  }
  for (const [id, then] of Object.entries(before.instances)) {
    if (id in after.instances) continue
    const dearest = seconds > shortestAbsence ? Math.max(then.perHour, then.running ?? 0) : then.perHour
    const guess = costOverTime(then.perHour, seconds)
    costs.set(id, { least: 0, most: costOverTime(dearest, seconds), guess, lowest: 0 })
  }
  return costs
}

/** The cost of an instance since the earlier poll. `then`: the instance at that poll; undefined if it is new. */
function costOf(
  { state, startedAt, pricePerHour = 0 }: InstanceView,
  then: CountedInstance | undefined,
  now: CountedInstance,
  { at: from, uncertainty = 0 }: Counted,
  to: number,
): Cost {
  const began = startedAt ?? Number.NEGATIVE_INFINITY
  const seconds = Math.max(0, then ? to - from : Math.min(to - from, to - began))
  const disk = Math.min(now.disk ?? now.perHour, then?.disk ?? then?.perHour ?? now.perHour)
  const fresh = then === undefined || then.booting === true
  // `startedAt` is the creation on some deployments, and the last start on others.
  const booted = fresh || began > from + uncertainty ? Math.max(from, began) : undefined
  const ran = state === 'running' && booted !== undefined ? ranAtLeast(booted, to) : 0
  const known = ran > 0 ? costOverTime(now.perHour, ran) + costOverTime(disk, seconds - ran) : 0
  const mayHaveRun = fresh && state !== 'running' && !now.booting
  const dearest = Math.max(then?.perHour ?? 0, now.perHour, mayHaveRun ? pricePerHour : 0)
  // A new instance without a time of creation may have cost nothing yet.
  const idle = then || startedAt !== undefined ? disk : 0
  const cheapest = then ? Math.min(then.least ?? then.perHour, now.least ?? now.perHour) : idle
  const traffic = Math.max(0, (now.traffic ?? 0) - (then?.traffic ?? 0))
  const most = costOverTime(dearest, seconds) + traffic
  const least = Math.min(most, Math.max(costOverTime(cheapest, seconds), known) + traffic)
  // After a kill, `spent` may go on from an older poll than this one. The 1 is for rounding.
  const guess = Math.min(Math.max(least, now.spent - (then?.spent ?? 0)), then ? most + 1 : most)
  const sure = least === most
  const lowest =
    to - from > shortestAbsence
      ? Math.min(least, Math.max(costOverTime(idle, seconds), known) + traffic)
      : least
  const silent = then?.least !== undefined && now.least !== undefined
  return {
    least: sure ? guess : least,
    most: sure ? guess : most,
    guess,
    lowest,
    silent: silent || undefined,
  }
}

/** A price per hour over a number of seconds. */
export function costOverTime(perHour: Micros, seconds: number): Micros {
  return Math.max(0, Math.floor((perHour * seconds) / 3600))
}
