import { rate } from '../../../../electron/contract/format/money.ts'
import { duration } from '../../../../electron/contract/format/time.ts'
import type { StopGain } from '../../../../electron/contract/spending/forecast.ts'

/** Seconds: a year and more is no forecast. */
export const far = 365 * 86_400

/** What stopping one instance wins; no time where the credit is used up already. */
export function gainWords({ saves, wins }: Pick<StopGain, 'saves' | 'wins'>, usedUp: boolean): string {
  const saved = `saves ${rate(saves)}`
  if (wins === undefined) return `${saved}, and nothing more is spent`
  if (usedUp) return saved
  return `${saved}, lasts ${wins > far ? 'over a year' : duration(wins)} longer`
}
