import type { MoneyHistory } from '../../../../electron/contract/spending/history.ts'
import type { Ledger } from '../../../../simulator/controls.ts'
import type { Look, Timeline } from '../timeline.ts'

/** How what Berth counted compares with the service's own ledger. Micro-dollars. */
export interface Compared {
  counted: number
  ledger: number
  toppedUp: number
  instances: number
  /** The share that differs most, in polls of its instance: at most one is right. */
  worst: number
  broken: string[]
}

const cent = 10_000

/** Seconds by which Berth may be wrong about when it looked: an answer's `Date` has whole ones. */
const blur = 1
/** Seconds after which what a look has changed is on disk. */
const written = 1

/**
 * The sum to the cent, and each share within one poll for every change of its price: nobody can know when it was
 * between two fresh answers.
 */
export function moneyCompared(
  { days }: MoneyHistory,
  ledger: Ledger,
  paidIn: number,
  timeline: Timeline,
): Compared {
  const looks = savedLooks(timeline)
  const counted = days.reduce((sum, { spent }) => sum + spent, 0)
  const toppedUp = days.reduce((sum, day) => sum + day.toppedUp, 0)
  const shares = new Map<string, number>()
  for (const { instances } of days)
    for (const [id, share] of Object.entries(instances)) shares.set(id, (shares.get(id) ?? 0) + share)
  const broken: string[] = []
  if (Math.abs(counted - ledger.micro_dollars) >= cent)
    broken.push(`counted ${counted} micro-dollars, but the ledger says ${ledger.micro_dollars}`)
  if (toppedUp !== paidIn) broken.push(`${paidIn} micro-dollars were paid in, but ${toppedUp} were noticed`)
  let worst = 0
  for (const { instance_id, micro_dollars } of ledger.instances) {
    const share = shares.get(String(instance_id))
    const poll = unknowable(instance_id, ledger, looks, timeline)
    // The cheapest of very many are not kept by name.
    if (share === undefined && micro_dollars <= leastKept(days)) continue
    const difference = Math.abs((share ?? 0) - micro_dollars)
    worst = Math.max(worst, Math.max(0, difference - cent) / poll)
    if (difference > poll + cent)
      broken.push(
        `#${instance_id} cost ${micro_dollars}, but its share is ${share ?? 0}; a poll is ${Math.round(poll)}`,
      )
  }
  return {
    counted,
    ledger: ledger.micro_dollars,
    toppedUp,
    instances: ledger.instances.length,
    worst,
    broken,
  }
}

/** Those of which what they changed outlived Berth. */
function savedLooks({ looks, lives }: Timeline): Look[] {
  return looks.filter(({ until, life }) => until < (lives[life - 1]?.until ?? 0) - written)
}

/**
 * What the instance costs at the most in the stretches between two fresh answers in which its price changed. While its
 * host is silent nobody knows whether it charges its GPUs: the credit tells it, but not in a stretch in which another
 * one's price has changed as well.
 */
function unknowable(id: number, { charges }: Ledger, looks: readonly Look[], { silence }: Timeline): number {
  const own = charges.filter(({ instance_id }) => instance_id === id)
  const dearest = Math.max(...own.map(charge => charge.micro_dollars_per_hour), 0)
  const changes = own.flatMap(({ from, to }) => [from, to])
  const seconds = lengthAround(changes, looks)
  const unsure = (silence.get(String(id)) ?? []).map(({ from, until, perHour }) => {
    const others = charges.filter(({ instance_id }) => instance_id !== id)
    const meanwhile = others
      .flatMap(charge => [charge.from, charge.to])
      .filter(at => at >= from && at <= until)
    return lengthAround(meanwhile, looks) * perHour
  })
  return (seconds * dearest + unsure.reduce((sum, one) => sum + one, 0)) / 3600
}

/** Seconds of all the stretches that those moments are in. */
function lengthAround(moments: readonly number[], looks: readonly Look[]): number {
  const stretches = new Map(moments.map(at => stretchAround(at, looks)))
  return [...stretches.values()].reduce((sum, length) => sum + length + blur, 0)
}

/** The stretch between two fresh answers that a moment is in: which one, and how long it is. */
function stretchAround(at: number, looks: readonly Look[]): [number, number] {
  const after = looks.findIndex(look => look.until >= at)
  const next = looks[after]
  const before = looks[after - 1]
  if (!next || !before) return [after, 0]
  return [after, next.until - before.at]
}

/** The smallest share of a day that has no room for more. */
function leastKept(days: MoneyHistory['days']): number {
  const full = days.map(({ instances }) => Object.values(instances)).filter(all => all.length >= 40)
  return full.length === 0 ? 0 : Math.max(...full.map(all => Math.min(...all)))
}
