import type { InstanceView } from '../instance/instance.ts'
import { calmRate, creditBy } from '../reading.ts'
import type { Micros } from '../spending/money.ts'
import type { AccountView } from '../state.ts'
import { type GuardView, hasEnded, isSetAgain } from './guard.ts'
import { isGoing } from './run.ts'

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

/** The guards that would stop it at the next poll. `now` in epoch seconds of the account's time. */
export function stoppersOf(account: AccountView, { instance, more }: Starting, now: number): GuardView[] {
  const credit = creditBy(account, now)
  return Object.values(account.guards).filter(guard => {
    if (hasEnded(guard) || (guard.snoozedUntil ?? 0) > now) return false
    if (guard.instance !== undefined && guard.instance !== instance) return false
    if (guard.condition.kind === 'credit')
      return (
        credit !== undefined &&
        (credit <= 0 || credit < (calmRate(account.instances) + more) * guard.condition.hours)
      )
    return guard.dueAt !== undefined && guard.dueAt <= now
  })
}

/** Whether nothing stops a running instance: no limit on it or its account, no watchdog, and no run's end. */
export function isUnlimited({ guards, watchdogs, runs }: AccountView, id: number): boolean {
  const watchdog = watchdogs[id]
  return (
    !Object.values(guards).some(guard => !hasEnded(guard) && (guard.instance ?? id) === id) &&
    (watchdog === undefined || watchdog.step === 'removing' || watchdog.step === 'lost') &&
    !Object.values(runs).some(run => run.instance === id && run.afterwards !== 'nothing' && isGoing(run))
  )
}

/** Whether nothing will stop an instance that is started now: it has no limit, and none is set again. */
export function startsUnlimited(account: AccountView, id: number): boolean {
  const again = Object.values(account.guards).some(
    guard => guard.instance === id && isSetAgain(guard, guard.step),
  )
  return !again && isUnlimited(account, id)
}
