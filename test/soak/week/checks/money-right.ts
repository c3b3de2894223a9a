import type { MoneyHistory } from '../../../../electron/contract/spending/history.ts'
import type { Ledger } from '../../../../simulator/controls.ts'
import type { Poll, Timeline } from '../timeline.ts'
import { paymentsNoticed } from './payments-noticed.ts'

/** Berth's counted spending compared with the service's ledger, in micro-dollars. */
export interface Compared {
  ledger: number
  /** Counted more than the ledger, without `mistaken`. */
  off: number
  /** Payments noticed on estimated days beyond the real ones. */
  mistaken: number
  /** The number of estimated days. */
  estimated: number
  instances: number
  /** The largest difference of a share, in polls of its instance; at most 1 is allowed. */
  worst: number
  broken: string[]
}

const cent = 10_000

/** Seconds of error in the time of a poll, since an answer's `Date` has whole seconds. */
const uncertainty = 1
/** Instances stored by name per day, the costliest, so that all days fit in 5 MB. */
const mostNamed = 40
/** Seconds between two fresh answers after which any payment may have gone unseen. */
const absence = 600
/** Seconds until the changes of a poll are on disk; a kill may lose the last poll. */
const written = 1

/**
 * Checks the total to the cent, and each share to one poll per change of its price, whose time between two fresh
 * answers cannot be known.
 */
export function moneyCompared(
  { days }: MoneyHistory,
  ledger: Ledger,
  paidIn: number,
  timeline: Timeline,
): Compared {
  const polls = savedPolls(timeline)
  const counted = days.reduce((sum, { spent }) => sum + spent, 0)
  const shares = new Map<string, number>()
  for (const { instances } of days)
    for (const [id, share] of Object.entries(instances)) shares.set(id, (shares.get(id) ?? 0) + share)
  const broken: string[] = []
  const odd = timeline.payments.filter(({ isOdd }) => isOdd)
  const doubt = odd.reduce((sum, { at }) => sum + doubtAbout(at, ledger, polls, timeline), 0)
  const { mistaken, ...noticed } = paymentsNoticed(days, paidIn, timeline, polls, doubt)
  broken.push(...noticed.broken)
  const off = counted - ledger.micro_dollars - mistaken
  if (Math.abs(off) >= cent + doubt)
    broken.push(`counted ${counted} micro-dollars, but the ledger says ${ledger.micro_dollars}`)
  let worst = 0
  for (const { instance_id, micro_dollars } of ledger.instances) {
    const share = shares.get(String(instance_id)) ?? 0
    const unnamed = days.reduce((sum, day) => sum + leftOut(String(instance_id), day), 0)
    const poll = unknowable(instance_id, ledger, polls, timeline)
    const difference = Math.max(0, Math.abs(share - micro_dollars) - cent - unnamed)
    if (difference > 0) worst = Math.max(worst, difference / poll)
    if (difference > poll)
      broken.push(
        `#${instance_id} cost ${micro_dollars}, but its share is ${share}; a poll is ${Math.round(poll)}; ${history(instance_id, ledger, days)}`,
      )
  }
  return {
    ledger: ledger.micro_dollars,
    off,
    mistaken,
    estimated: days.filter(({ estimated }) => estimated).length,
    instances: ledger.instances.length,
    worst,
    broken,
  }
}

/** Details of a wrong share: its charges by time and its shares by day. */
function history(id: number, { charges }: Ledger, days: MoneyHistory['days']): string {
  const own = charges.filter(({ instance_id }) => instance_id === id)
  const cost = own.map(({ from, to, micro_dollars_per_hour }) => `${micro_dollars_per_hour}/h ${from}-${to}`)
  const given = days.flatMap(({ day, estimated, instances }) =>
    id in instances ? [`${instances[id]} on ${day}${estimated ? ' (estimated)' : ''}`] : [],
  )
  return `it was charged ${cost.join(', ')} and given ${given.join(', ')}`
}

/** The polls whose changes were on disk before Berth died. */
function savedPolls({ polls, lives }: Timeline): Poll[] {
  return polls.filter(({ until, life }) => until < (lives[life - 1]?.until ?? 0) - written)
}

/**
 * The most an instance can cost in the stretches between two fresh answers in which its price changed. An instance that
 * was booting or missing in one answer and is stopped, dead or gone in the next may have run in between: FIELDS has
 * GPUs charged from `running`, and no record shows a run that is over. While its host is silent (`unknown`, no
 * heartbeat, section 3.1) only the credit shows whether GPUs are charged, but not in a stretch in which another price
 * changed, nor in a long one with an unreported payment.
 */
function unknowable(
  id: number,
  { charges }: Ledger,
  polls: readonly Poll[],
  { silence, unseenRuns, payments }: Timeline,
): number {
  const own = charges.filter(({ instance_id }) => instance_id === id)
  const dearest = Math.max(...own.map(charge => charge.micro_dollars_per_hour), 0)
  const changes = own.flatMap(({ from, to }) => [from, to])
  const seconds = lengthAround(changes, polls)
  const others = charges.filter(({ instance_id }) => instance_id !== id)
  const creditStaleSince = payments.filter(({ at }) => stretchAround(at, polls)[1] > absence)
  const moments = [
    ...others.flatMap(charge => [charge.from, charge.to]),
    ...creditStaleSince.map(({ at }) => at),
  ]
  const unsure = (silence.get(String(id)) ?? []).map(
    ({ from, until, perHour }) =>
      lengthAround(
        moments.filter(at => at >= from && at <= until),
        polls,
      ) * perHour,
  )
  const run = unseenRuns.get(String(id))
  const unseen = run ? lengthAround([run.at], polls) * run.perHour : 0
  return (seconds * dearest + unseen + unsure.reduce((sum, one) => sum + one, 0)) / 3600
}

/** The total seconds of the stretches that contain those moments. */
function lengthAround(moments: readonly number[], polls: readonly Poll[]): number {
  const stretches = new Map(moments.map(at => stretchAround(at, polls)))
  return [...stretches.values()].reduce((sum, length) => sum + length + uncertainty, 0)
}

/**
 * The possible error of a payment that is not round: the service shows only the credit, so payments and spending of a
 * stretch are known by their difference, and by the prices where those are certain.
 */
function doubtAbout(at: number, { charges }: Ledger, polls: readonly Poll[], { silence }: Timeline): number {
  const [after, length] = stretchAround(at, polls)
  const until = polls[after]?.until ?? at
  const during = charges.filter(({ from, to }) => from <= until && to >= until - length)
  const changed = during.filter(({ from, to }) => from >= until - length || to <= until)
  const all = during.reduce((sum, charge) => sum + charge.micro_dollars_per_hour, 0)
  const silent = [...silence.values()].flat().filter(one => one.from <= until && one.until >= until - length)
  const unsure =
    changed.reduce((sum, charge) => sum + charge.micro_dollars_per_hour, 0) +
    silent.reduce((sum, { perHour }) => sum + perHour, 0)
  return cent + (all * 2 * uncertainty + unsure * length) / 3600
}

/** The stretch between two fresh answers around a moment: its index and its seconds. */
function stretchAround(at: number, polls: readonly Poll[]): [number, number] {
  const after = polls.findIndex(poll => poll.until >= at)
  const next = polls[after]
  const before = polls[after - 1]
  if (!next || !before) return [after, 0]
  return [after, next.until - before.at]
}

/** The most an unnamed instance can have cost on a day with all names taken: less than the least of them. */
function leftOut(id: string, { instances }: MoneyHistory['days'][number]): number {
  const shares = Object.values(instances)
  return shares.length < mostNamed || id in instances ? 0 : Math.min(...shares)
}
