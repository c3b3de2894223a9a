import { duration } from '#contract/format/time.ts'
import type { Saving } from '#contract/spending/forecast.ts'

/** Seconds: longer forecasts show as more than a year. */
export const farthest = 365 * 86_400

/** How much longer the credit lasts without an instance; empty where it is used up already. */
export function gainWords({ wins }: Pick<Saving, 'wins'>, usedUp: boolean): string {
  if (wins === undefined) return 'Ends all spending'
  if (usedUp) return ''
  return wins > farthest ? 'Over a year' : `+${duration(wins)}`
}
