import type { RentalLimitKind, WhenOf } from './limit.ts'

/** The defaults of a new limit, wherever the user chose nothing. */

/** Seconds ahead at which it warns. */
export const defaultWarning = 900

/** The conditions of a rental's limits; alone, the duration is that of the first rental. */
export const defaultLimits: { readonly [Kind in RentalLimitKind]: WhenOf<Kind> } = {
  idle: { kind: 'idle', below: 5, seconds: 1800 },
  duration: { kind: 'duration', seconds: 8 * 3600 },
  cost: { kind: 'cost', dollars: 20 },
  away: { kind: 'away', seconds: 7200 },
}
