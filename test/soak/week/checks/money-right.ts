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

/** What Berth saw, and when. */
export interface Sighted {
  /** Those of which what they showed was saved. */
  looks: readonly Look[]
  timeline: Timeline
  /** Seconds by which Berth may be wrong about what time it is. */
  blur: number
}

/**
 * The sum to the cent, and each share within one poll for every change of its price: nobody can know when it was
 * between two fresh answers.
 */
export function moneyCompared(
  { days }: MoneyHistory,
  ledger: Ledger,
  paidIn: number,
  sighted: Sighted,
): Compared {
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
    const poll = unknowable(instance_id, ledger, sighted)
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

/**
 * What the instance costs at the most in the stretches between two fresh answers in which its price changed, and, at
 * any price, while its host was silent: what that charges is not known.
 */
function unknowable(id: number, { charges }: Ledger, { looks, timeline, blur }: Sighted): number {
  const own = charges.filter(({ instance_id }) => instance_id === id)
  const dearest = Math.max(...own.map(charge => charge.micro_dollars_per_hour), 0)
  const changes = own.flatMap(({ from, to }) => [from, to])
  const stretches = new Map(changes.map(at => stretchAround(at, looks)))
  const seconds = [...stretches.values()].reduce((sum, length) => sum + length + blur, 0)
  const silent = timeline.silence.get(String(id)) ?? 0
  const anyPrice = Math.max(...charges.map(charge => charge.micro_dollars_per_hour), 0)
  return (seconds * dearest + silent * anyPrice) / 3600
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
