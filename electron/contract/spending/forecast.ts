import { dueNext } from '../automation/guard.ts'
import type { InstanceView } from '../instance/instance.ts'
import { costOnceReady, creditBy, spendOnceReady, trafficPerHour } from '../reading.ts'
import type { AccountView } from '../state.ts'
import type { Micros } from './money.ts'

/** When the credit runs out if all goes on as it is and what boots gets ready. Times in epoch seconds of the account's time. */
export interface Forecast {
  perHour: Micros
  /** How much of that is traffic, as it was measured of late. */
  traffic: Micros
  runsOutAt: number
  /** What ending each instance would win, the most first. */
  savings: readonly Saving[]
}

/** What stopping an instance that runs would win, or destroying one that does not. */
export interface Saving {
  instance: number
  by: 'stop' | 'destroy'
  /** Per hour: the disk of one that is stopped goes on costing. */
  saves: Micros
  /** Undefined where nothing would be spent any more. */
  runsOutAt?: number
  /** Seconds. */
  wins?: number
}

/** Undefined while the credit is not known, or nothing is spent. */
export function forecast(account: AccountView, now: number): Forecast | undefined {
  const { instances } = account
  const credit = creditBy(account, now)
  const traffic = trafficPerHour(account)
  const perHour = spendOnceReady(account) + traffic
  if (credit === undefined || perHour <= 0) return undefined
  const left = Math.max(0, credit)
  const runsOut = (rate: Micros) => now + (left / rate) * 3600
  const runsOutAt = runsOut(perHour)
  const savings = Object.values(instances).flatMap((instance): Saving[] => {
    const { id, state } = instance
    const stopped = savedByStopping(instance)
    const by = state === 'stopped' || state === 'outbid' || stopped <= 0 ? 'destroy' : 'stop'
    const saves = by === 'stop' ? stopped : costOnceReady(instance)
    if (saves <= 0) return []
    const rest = perHour - saves
    if (rest <= 0) return [{ instance: id, by, saves }]
    const later = runsOut(rest)
    return [{ instance: id, by, saves, runsOutAt: later, wins: later - runsOutAt }]
  })
  return { perHour, traffic, runsOutAt, savings: savings.sort((a, b) => b.saves - a.saves) }
}

/** When the credit runs out if the guards on instances act when they are due now. */
export interface GuardedForecast {
  /** Undefined where nothing is spent once they have acted. */
  runsOutAt?: number
  /** What they end before that, the first one first. */
  ends: readonly { instance: number; at: number }[]
}

/** Undefined where no guard would act before the credit runs out, and as in `forecast`. */
export function guardedForecast(account: AccountView, now: number): GuardedForecast | undefined {
  const course = forecast(account, now)
  if (!course) return undefined
  const ends: { instance: number; at: number }[] = []
  /** What each instance does not cost any more, per hour. */
  const saved = new Map<number, Micros>()
  let { perHour, runsOutAt } = course
  for (const { guard, dueAt } of dueNext(account.guards)) {
    const instance = account.instances[guard.instance ?? '']
    if (!instance) continue
    const at = Math.max(now, dueAt)
    if (at >= runsOutAt) break
    const before = saved.get(instance.id) ?? 0
    const stopped = savedByStopping(instance)
    const all = guard.action === 'destroy' ? stopped + (instance.diskPricePerHour ?? 0) : stopped
    if (all <= before) continue
    saved.set(instance.id, all)
    ends.push({ instance: instance.id, at })
    const rest = perHour - (all - before)
    if (rest <= 0) return { ends }
    runsOutAt = at + ((runsOutAt - at) * perHour) / rest
    perHour = rest
  }
  return ends.length === 0 ? undefined : { runsOutAt, ends }
}

/** Per hour, traffic included. */
function savedByStopping(instance: InstanceView): Micros {
  const { id, diskPricePerHour } = instance
  return costOnceReady(instance) - (diskPricePerHour ?? 0) + trafficPerHour({ instances: { [id]: instance } })
}
