import { creditBy, trafficPerHour } from '../reading.ts'
import type { AccountView } from '../state.ts'
import type { Micros } from './money.ts'

/** When the credit runs out if all goes on as it is. Times in epoch seconds of the account's time. */
export interface Forecast {
  perHour: Micros
  /** How much of that is traffic, as it was measured of late. */
  traffic: Micros
  runsOutAt: number
  /** What stopping each instance that runs would win, the most first. */
  stopping: readonly StopGain[]
}

export interface StopGain {
  instance: number
  /** Per hour: its disk goes on costing. */
  saves: Micros
  /** Undefined where nothing would be spent any more. */
  runsOutAt?: number
  /** Seconds. */
  wins?: number
}

/** Undefined while the credit is not known, or nothing is spent. */
export function forecast(account: AccountView, now: number): Forecast | undefined {
  const { spendPerHour, instances } = account
  const credit = creditBy(account, now)
  const traffic = trafficPerHour(account)
  const perHour = spendPerHour + traffic
  if (credit === undefined || perHour <= 0) return undefined
  const left = Math.max(0, credit)
  const runsOut = (rate: Micros) => now + (left / rate) * 3600
  const runsOutAt = runsOut(perHour)
  const stopping = Object.values(instances).flatMap(instance => {
    const { id, state, costPerHour, diskPricePerHour } = instance
    const saves = costPerHour - (diskPricePerHour ?? 0) + trafficPerHour({ instances: { [id]: instance } })
    if (state === 'stopped' || state === 'outbid' || saves <= 0) return []
    const rest = perHour - saves
    if (rest <= 0) return [{ instance: id, saves }]
    const later = runsOut(rest)
    return [{ instance: id, saves, runsOutAt: later, wins: later - runsOutAt }]
  })
  return { perHour, traffic, runsOutAt, stopping: stopping.sort((a, b) => b.saves - a.saves) }
}
