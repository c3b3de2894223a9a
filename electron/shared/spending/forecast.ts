import { dueNext } from '../automation/limit.ts'
import { costOnceReady, creditBy, isSpendingUnknown, spendOnceReady, trafficPerHour } from '../derived.ts'
import type { InstanceView } from '../instance/instance.ts'
import type { AccountView } from '../state.ts'
import type { Micros } from './money.ts'

/** When the credit runs out if all booting instances run and nothing else changes. Epoch seconds, account time. */
export interface Forecast {
  perHour: Micros
  /** The traffic in `perHour`. */
  traffic: Micros
  runsOutAt: number
  /** The effect of ending each instance, the largest first. */
  savings: readonly Saving[]
}

/** The effect of stopping a running instance, or destroying another. */
export interface Saving {
  instance: number
  by: 'stop' | 'destroy'
  /** Per hour: a stopped instance still costs its disk. */
  saves: Micros
  /** Undefined if nothing would be spent any more. */
  runsOutAt?: number
  /** Seconds that the credit would last longer. */
  wins?: number
}

/** Undefined if nothing is spent, or the credit or a part of the spending is unknown. */
export function forecast(account: AccountView, now: number): Forecast | undefined {
  const { instances } = account
  if (isSpendingUnknown(account)) return undefined
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

/** When the credit runs out if limits on instances act at their present moments. */
export interface LimitedForecast {
  /** Undefined if nothing is spent after they have acted. */
  runsOutAt?: number
  /** The instances that they end before that, earliest first. */
  ends: readonly { instance: number; at: number }[]
}

/** Undefined if no limit would act before the credit runs out, and where `forecast` is. */
export function limitedForecast(account: AccountView, now: number): LimitedForecast | undefined {
  const course = forecast(account, now)
  if (!course) return undefined
  const ends: { instance: number; at: number }[] = []
  /** Savings per instance and hour so far. */
  const saved = new Map<number, Micros>()
  let { perHour, runsOutAt } = course
  for (const { limit, dueAt } of dueNext(account)) {
    const instance = account.instances[limit.instance ?? '']
    if (!instance) continue
    const at = Math.max(now, dueAt)
    if (at >= runsOutAt) break
    const before = saved.get(instance.id) ?? 0
    const stopped = savedByStopping(instance)
    const all = limit.action === 'destroy' ? stopped + (instance.diskPricePerHour ?? 0) : stopped
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

/** Micro-dollars per hour, traffic included. */
function savedByStopping(instance: InstanceView): Micros {
  const { id, diskPricePerHour } = instance
  return costOnceReady(instance) - (diskPricePerHour ?? 0) + trafficPerHour({ instances: { [id]: instance } })
}
