import type { InstanceView } from '../../contract/instance/instance.ts'
import { hasTrait } from '../../contract/instance/state-traits.ts'
import { spentBy } from '../../contract/reading.ts'
import type { Micros } from '../../contract/spending/money.ts'
import { shortestBreak } from '../instances/reconcile.ts'
import { ranAtLeast } from '../instances/spending.ts'

/** What has been counted already, up to a moment of the account's time. */
export interface Counted {
  /** Epoch seconds, and by how many that may be wrong. */
  at: number
  uncertainty?: number
  credit?: Micros
  /** By id. */
  instances: Record<string, CountedInstance>
  /** What the shares add up to more than left the account, by uncertain clocks: later ones have less for it. */
  over?: Micros
}

/** What an instance had cost in all by then, and what it cost per hour. */
export interface CountedInstance {
  spent: Micros
  perHour: Micros
  /** What it cost per hour at the least, where that is not known: a host that is silent may charge its disk alone. */
  least?: Micros
  /** Where its host is silent: of what it may charge beside the least, how much it did when that was told, 0 to 1. */
  part?: number
  /** What it costs per hour while it is stopped, where that is less. */
  disk?: Micros
  /** It is on its way to running. */
  booting?: true
  /** What it costs per hour once it runs, where that is more: in an absence it may run and be gone again. */
  running?: Micros
  /** What its traffic had cost, where that is measured: it comes on top of all prices, and is sure. */
  traffic?: Micros
}

/** What one instance may have cost in a stretch of time. Where it is sure, `least`, `most` and `guess` are the same. */
export interface Cost {
  least: Micros
  most: Micros
  /** By the price it had before, where nothing better is known. */
  guess: Micros
  /** Less than `least` where it may have been stopped for a while that nobody saw. */
  lowest: Micros
  /** Its host was silent at both ends. */
  silent?: true
}

export type Bound = Exclude<keyof Cost, 'silent'>

/**
 * Seconds: polls closer together follow each other. Between others, what had one price at both may have been stopped
 * and started again.
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

/** By id, between two polls. Where time went back (a clock was put right) nothing can be said of anyone. */
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

/** What one that is there now has cost since the poll before; `then` is how it was in that, undefined where it is new. */
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
  // The service may tell when it was made, or when it was started last.
  const booted = fresh || began > from + uncertainty ? Math.max(from, began) : undefined
  const ran = state === 'running' && booted !== undefined ? ranAtLeast(booted, to) : 0
  const known = ran > 0 ? costOverTime(now.perHour, ran) + costOverTime(disk, seconds - ran) : 0
  const mayHaveRun = fresh && state !== 'running' && !now.booting
  const dearest = Math.max(then?.perHour ?? 0, now.perHour, mayHaveRun ? pricePerHour : 0)
  // Of a new one that does not tell when it was made, nothing is sure.
  const idle = then || startedAt !== undefined ? disk : 0
  const cheapest = then ? Math.min(then.least ?? then.perHour, now.least ?? now.perHour) : idle
  const traffic = Math.max(0, (now.traffic ?? 0) - (then?.traffic ?? 0))
  const most = costOverTime(dearest, seconds) + traffic
  const least = Math.min(most, Math.max(costOverTime(cheapest, seconds), known) + traffic)
  // What it has cost in all may have been taken up from an older poll than this, after a kill. Rounding gives the one.
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

/** What a price per hour comes to in so many seconds. */
export function costOverTime(perHour: Micros, seconds: number): Micros {
  return Math.max(0, Math.floor((perHour * seconds) / 3600))
}
