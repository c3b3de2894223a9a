import { costOnceReady, spentBy } from '#shared/derived.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import { hasTrait } from '#shared/instance/state-traits.ts'
import { type Micros, micros } from '#shared/spending/money.ts'
import type { EverythingUse, Need, Spender, SpenderForm, SpenderUse } from '#shared/spending/spender.ts'
import { dayOf, type LedgerEntry, restOfDay } from './record.ts'

type Instances = Readonly<Record<string, InstanceView>>

/**
 * An entry with the cost of its instance up to `now`, of which it keeps the part of the present day: `withDayBefore`
 * keeps the rest. A clock that goes back counts on from where it then is.
 */
export function settled(entry: LedgerEntry, view: InstanceView | undefined, now: number): LedgerEntry {
  const { seen = 0, seenAt = entry.at } = entry
  const cost = view ? spentBy(view, now) : seen
  const more = Math.max(0, cost - seen)
  const day = dayOf(now)
  const sinceMidnight = 86_400 - restOfDay(now)
  const span = Math.max(1, now - seenAt)
  // What a poll finds after midnight was spent over the whole time since the last one.
  const ofToday = day === entry.day ? more : Math.ceil(more * Math.min(1, sinceMidnight / span))
  return {
    ...entry,
    seen: Math.max(seen, cost),
    seenAt: now,
    spent: entry.spent + more,
    day,
    today: (day === entry.day ? entry.today : 0) + ofToday,
  }
}

/** The same sum on that day: an earlier day's counts for nothing, and a later one's does, for the clock was set back. */
function todayOf({ day, today }: LedgerEntry, now: number): Micros {
  return day >= dayOf(now) ? today : 0
}

/** What a machine or a sum counts today, up to `now`. */
function spentToday(entry: LedgerEntry, view: InstanceView | undefined, now: number): Micros {
  if (entry.isSum) return todayOf(entry, now)
  return settled(entry, view, now).today + (entry.day > dayOf(now) ? entry.today : 0)
}

/** Seconds in which a start counts that no answer of the service shows yet. */
const startsWithin = 60

/** Whether it only costs its disk, and goes on so. */
function isAtRest(view: InstanceView | undefined, now: number): boolean {
  if (view === undefined || !hasTrait(view.state, 'over')) return false
  const { stateRequest } = view
  return stateRequest?.state !== 'running' || Math.abs(now - stateRequest.at) > startsWithin
}

/** A machine with the price that was agreed to. */
type Priced = Pick<LedgerEntry, 'perHour'>

/** What it costs per hour while it runs. */
function runningPrice(entry: Priced, view: InstanceView | undefined): Micros {
  return view ? Math.max(view.pricePerHour ?? entry.perHour, costOnceReady(view)) : entry.perHour
}

/** What a machine costs per hour from now on, as far as it is known. */
function priceFromNow(entry: Priced, view: InstanceView | undefined, now: number): Micros {
  return isAtRest(view, now) ? (view?.diskPricePerHour ?? 0) : runningPrice(entry, view)
}

/** What limits let machines cost: in all, and for how many seconds. */
export type Bound = Pick<LedgerEntry, 'most' | 'seconds'>

/** What a machine with that price may cost until its time is over; Infinity where no limit says when. */
function mostByTime(perHour: Micros, { seconds }: Bound): Micros {
  return seconds === undefined ? Number.POSITIVE_INFINITY : Math.ceil((perHour * seconds) / 3600)
}

/** What machines with that price may cost in the rest of the day: without a limit, what they cost in an hour. */
export function neededToday(perHour: Micros, bound: Bound, now: number): Micros {
  const { most = Number.POSITIVE_INFINITY } = bound
  const inAll = Math.min(most, mostByTime(perHour, bound))
  const rest = Math.ceil((perHour * restOfDay(now)) / 3600)
  return Math.max(0, Math.min(Number.isFinite(inAll) ? inAll : perHour, rest))
}

/** What a spender has used of its caps. Entries of machines that were agreed to together share what they may cost. */
export function useOf(
  entries: readonly LedgerEntry[],
  by: Spender | undefined,
  instances: Instances,
  now: number,
): SpenderUse {
  const own = entries.filter(entry => entry.by === by)
  const machines = own.filter(({ isSum }) => !isSum)
  const groups = new Map<
    string,
    { spent: Micros; disks: Micros; perHour: Micros; own: Micros; shared: Micros }
  >()
  const spent = own.reduce((sum, entry) => sum + spentToday(entry, instances[entry.instance ?? ''], now), 0)
  let perHour = 0
  for (const entry of machines) {
    const view = instances[entry.instance ?? '']
    const after = settled(entry, view, now)
    perHour += priceFromNow(entry, view, now)
    const key = entry.group ?? entry.id
    const group = groups.get(key) ?? { spent: 0, disks: 0, perHour: 0, own: 0, shared: 0 }
    groups.set(key, group)
    if (isAtRest(view, now))
      group.disks += Math.ceil((priceFromNow(entry, view, now) * restOfDay(now)) / 3600)
    else {
      const price = runningPrice(entry, view)
      group.perHour += price
      const { most = Number.POSITIVE_INFINITY, isShared } = entry
      const byTime = mostByTime(price, entry)
      const own = isShared ? byTime : Math.min(most, byTime)
      group.own += isShared || Number.isFinite(own) ? own : price
      if (isShared) group.shared = Math.max(group.shared, most)
    }
    group.spent += after.spent
  }
  let reserved = 0
  for (const group of groups.values()) {
    const { own, shared, disks, perHour: price } = group
    const most = Math.min(own, shared > 0 ? shared : own)
    reserved += disks + (price > 0 ? neededToday(price, { most: Math.max(0, most - group.spent) }, now) : 0)
  }
  return { today: spent + reserved, reserved, perHour, machines: machines.length }
}

/** What all machines of an account use, with those that were rented elsewhere. `ended`: whose end was seen. */
export function useOfAll(
  entries: readonly LedgerEntry[],
  instances: Instances,
  ended: ReadonlySet<number>,
  now: number,
): EverythingUse {
  const reserved = entries.filter(({ isSum }) => !isSum)
  const known = new Set(reserved.map(({ instance }) => instance))
  const others = Object.values(instances).filter(({ id }) => !known.has(id) && !ended.has(id))
  const prices = [
    ...reserved.map(entry => priceFromNow(entry, instances[entry.instance ?? ''], now)),
    ...others.map(view => priceFromNow({ perHour: 0 }, view, now)),
  ]
  return { perHour: prices.reduce((sum, price) => sum + price, 0), machines: prices.length }
}

/** What starting an instance again needs, at its price or another one: its machine counts already. */
export function startNeed(
  entry: Priced,
  view: InstanceView | undefined,
  now: number,
  running = runningPrice(entry, view),
): Need {
  const more = Math.max(0, running - priceFromNow(entry, view, now))
  return { perHour: more, machines: 0, price: running, today: neededToday(more, {}, now) }
}

/** Why a machine of a spender is stopped. Micro-dollars, prices per hour. */
export interface OverCap {
  instance: number
  cap: 'day' | 'hour' | 'price' | 'machines'
  /** What it costs while it runs, and what was agreed to. */
  price: Micros
  agreed: Micros
  /** What its spender has spent today, and what the disks of all its machines cost until midnight. */
  spent: Micros
  disks: Micros
}

/** The machines that are past a spender's caps now: for the hour's cap and their number the ones that came last. */
export function overCaps(
  entries: readonly LedgerEntry[],
  form: SpenderForm,
  by: Spender,
  instances: Instances,
  now: number,
): OverCap[] {
  const machines = entries
    .filter(entry => entry.by === by && !entry.isSum)
    .map(entry => ({ entry, view: instances[entry.instance ?? ''] }))
  const active = machines.flatMap(({ entry, view }) =>
    view && !isAtRest(view, now) ? { entry, instance: view.id, price: runningPrice(entry, view) } : [],
  )
  const today = spentAndDisks(entries, by, instances, now)
  const at = ({ instance, price, entry }: (typeof active)[number], cap: OverCap['cap']): OverCap => ({
    instance,
    cap,
    price,
    agreed: entry.perHour,
    ...today,
  })
  if (today.spent + today.disks >= micros(form.perDay)) return active.map(one => at(one, 'day'))
  const dear = active.filter(({ price }) => price > micros(form.price))
  let perHour = useOf(entries, by, instances, now).perHour
  const over = dear.map(one => at(one, 'price'))
  for (const { price } of dear) perHour -= price
  const rest = active.filter(one => !dear.includes(one)).sort((a, b) => b.entry.at - a.entry.at)
  for (const [index, one] of rest.entries()) {
    const isTooDear = perHour > micros(form.perHour)
    // One whose creation wasn't answered may appear after others have taken its room.
    if (!isTooDear && rest.length - index <= form.machines) break
    over.push(at(one, isTooDear ? 'hour' : 'machines'))
    perHour -= one.price
  }
  return over
}

/** What is spent today for certain: up to now, and on the disks of its machines until midnight. */
function spentAndDisks(
  entries: readonly LedgerEntry[],
  by: Spender,
  instances: Instances,
  now: number,
): Pick<OverCap, 'spent' | 'disks'> {
  let [spent, disks] = [0, 0]
  for (const entry of entries) {
    if (entry.by !== by) continue
    const view = instances[entry.instance ?? '']
    spent += spentToday(entry, view, now)
    disks += Math.ceil(((view?.diskPricePerHour ?? 0) * restOfDay(now)) / 3600)
  }
  return { spent, disks }
}

/** When the day's cap is reached at the present cost, in epoch seconds; Infinity if it isn't today. */
export function capReachedAt(
  entries: readonly LedgerEntry[],
  form: SpenderForm,
  by: Spender,
  instances: Instances,
  now: number,
): number {
  const { spent, disks } = spentAndDisks(entries, by, instances, now)
  const left = micros(form.perDay) - spent - disks
  const perHour = entries.reduce((sum, { by: whose, instance, isSum }) => {
    const view = instances[instance ?? '']
    return whose === by && !isSum && view ? sum + view.costPerHour - (view.diskPricePerHour ?? 0) : sum
  }, 0)
  return perHour > 0 && left > 0 ? now + (left / perHour) * 3600 : Number.POSITIVE_INFINITY
}
