import { duration } from '../../../electron/contract/format/time.ts'
import type { Saving } from '../../../electron/contract/spending/forecast.ts'

/** Seconds: a year and more is no forecast. */
export const farthest = 365 * 86_400

/** How much longer the credit lasts without it; nothing where it is used up already. */
export function gainWords({ wins }: Pick<Saving, 'wins'>, usedUp: boolean): string {
  if (wins === undefined) return 'Ends all spending'
  if (usedUp) return ''
  return wins > farthest ? 'Over a year' : `+${duration(wins)}`
}
