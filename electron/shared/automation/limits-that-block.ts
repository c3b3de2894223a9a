import { calmRate, creditBy, runsOnceBack } from '../derived.ts'
import type { InstanceView } from '../instance/instance.ts'
import { hasTrait } from '../instance/state-traits.ts'
import { isRenting, type RentalView } from '../market/rental-view.ts'
import type { Micros } from '../spending/money.ts'
import type { AccountView } from '../state.ts'
import { hasEnded, isSetAgain, type LimitView } from './limit.ts'
import { isGoing } from './run.ts'
import type { WatchView } from './watch.ts'

/** An instance that is about to be started, or rented: then without an id. */
export interface Starting {
  instance?: number
  /** The additional cost, micro-dollars per hour. */
  more: Micros
}

/** The additional cost of a start: price and expected traffic, less the disk's present cost. */
export function starting({ id, pricePerHour, costPerHour, traffic }: InstanceView): Starting {
  const more = Math.max(0, (pricePerHour ?? costPerHour) - costPerHour)
  return { instance: id, more: more + (traffic?.expectedPerHour ?? 0) }
}

/** The limits that would stop it at the next poll. `now` in epoch seconds of the account's time. */
export function stoppersOf(account: AccountView, { instance, more }: Starting, now: number): LimitView[] {
  const credit = creditBy(account, now)
  return Object.values(account.limits).filter(limit => {
    if (hasEnded(limit) || (limit.snoozedUntil ?? 0) > now) return false
    if (limit.instance !== undefined && limit.instance !== instance) return false
    if (limit.when.kind === 'credit')
      return (
        credit !== undefined &&
        (credit <= 0 || credit < (calmRate(account.instances) + more) * limit.when.hours)
      )
    return limit.dueAt !== undefined && limit.dueAt <= now
  })
}

/** Whether nothing stops a running instance: no limit on it or its account, no watchdog of another Berth, and no run's end. */
export function isUnlimited({ opening, limits, watchdogs, runs }: AccountView, id: number): boolean {
  const watchdog = watchdogs[id]
  return (
    !opening &&
    !Object.values(limits).some(limit => !hasEnded(limit) && (limit.instance ?? id) === id) &&
    !(watchdog?.foreign && watchdog.step !== 'lost') &&
    !Object.values(runs).some(run => run.instance === id && run.afterwards !== 'nothing' && isGoing(run))
  )
}

/** Whether nothing will stop an instance that is started now: it has no limit, and none is set again. */
export function startsUnlimited(account: AccountView, id: number): boolean {
  return !isLimitedAgain(account, id) && isUnlimited(account, id)
}

/** Whether a limit that has stopped an instance is set again once it is started. */
export function isLimitedAgain({ limits }: Pick<AccountView, 'limits'>, id: number): boolean {
  const own = Object.values(limits).filter(({ instance }) => instance === id)
  return own.every(hasEnded) && own.some(limit => isSetAgain(limit, limit.step))
}

/** The targets of "stop everything": all that costs GPU time now, or would without the user. */
export interface AllToStop {
  instances: readonly InstanceView[]
  rentals: readonly RentalView[]
  /** Watches that rent automatically. */
  watches: readonly WatchView[]
}

/**
 * Rentals in progress are cancelled, which destroys their instances: nothing ran on them yet. All other instances that
 * run, boot, or would restart automatically (outbid, or offline) are stopped. Watches that rent are paused.
 */
export function everything(
  account: Pick<AccountView, 'instances' | 'rentals' | 'watches' | 'endings'>,
): AllToStop {
  const rentals = Object.values(account.rentals).filter(one => isRenting(one) && !one.cancelling)
  const taken = new Set(rentals.map(({ instance }) => instance))
  return {
    instances: Object.values(account.instances).filter(
      one => mayRun(one) && !taken.has(one.id) && account.endings[one.id]?.action !== 'destroy',
    ),
    rentals,
    watches: Object.values(account.watches).filter(({ rents, paused }) => rents && !paused),
  }
}

/** Whether any of it costs GPU time now or soon: what is only outbid or offline may wait for long. */
export function isAnythingRunning({ instances, rentals, watches }: AllToStop): boolean {
  return instances.some(({ state }) => !hasTrait(state, 'diskOnly')) || rentals.length + watches.length > 0
}

function mayRun(instance: InstanceView): boolean {
  const { state } = instance
  if (state === 'offline') return runsOnceBack(instance)
  return !hasTrait(state, 'over')
}
