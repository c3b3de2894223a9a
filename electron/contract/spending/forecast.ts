import { creditBy } from '../reading.ts'
import type { AccountView } from '../state.ts'
import type { Micros } from './money.ts'

/** When the credit runs out if all goes on as it is. Times in epoch seconds of the account's time. */
export interface Forecast {
  perHour: Micros
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
  if (credit === undefined || spendPerHour <= 0) return undefined
  const left = Math.max(0, credit)
  const runsOut = (perHour: Micros) => now + (left / perHour) * 3600
  const runsOutAt = runsOut(spendPerHour)
  const stopping = Object.values(instances).flatMap(({ id, state, costPerHour, diskPricePerHour }) => {
    const saves = costPerHour - (diskPricePerHour ?? 0)
    if (state === 'stopped' || state === 'outbid' || saves <= 0) return []
    const rest = spendPerHour - saves
    if (rest <= 0) return [{ instance: id, saves }]
    const later = runsOut(rest)
    return [{ instance: id, saves, runsOutAt: later, wins: later - runsOutAt }]
  })
  return { perHour: spendPerHour, runsOutAt, stopping: stopping.sort((a, b) => b.saves - a.saves) }
}
