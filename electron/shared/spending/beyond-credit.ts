import { creditBy, spendOnceReady } from '../derived.ts'
import { money, moneyUp } from '../format/money.ts'
import { atMoment, duration } from '../format/time.ts'
import type { AccountView } from '../state.ts'
import type { Micros } from './money.ts'

/** Hours that the credit has to last for. */
const hoursAhead = 8

/** Something that costs more from now on: micro-dollars per hour, and once. */
export interface MoreCost {
  perHour: Micros
  once?: Micros | undefined
  /** Seconds after which a limit ends it, if one does. */
  endsAfter?: number | undefined
}

/** Seconds the credit will last once this is spent too; undefined when the credit is not known. */
export function creditWouldLast(
  credit: Micros | undefined,
  spendPerHour: Micros,
  perHour: Micros,
): number | undefined {
  const together = spendPerHour + perHour
  if (credit === undefined || together <= 0) return undefined
  return Math.max(0, (credit / together) * 3600)
}

/** That the credit does not pay for something: why, and the seconds until it would be cut off. */
export interface BeyondCredit {
  why: string
  lasts: number
}

/**
 * Where the credit would be used up before it ends, or within 8 hours; undefined where it lasts or is not known. `now`:
 * epoch seconds of the account's time.
 */
export function beyondCredit(
  account: AccountView,
  { perHour, once = 0, endsAfter }: MoreCost,
  now: number,
): BeyondCredit | undefined {
  const credit = creditBy(account, now)
  if (credit === undefined || perHour + once <= 0) return undefined
  if (credit <= 0) return { why: 'Your credit is used up.', lasts: 0 }
  const hours = Math.min(hoursAhead, endsAfter === undefined ? hoursAhead : endsAfter / 3600)
  const total = perHour * hours + once
  const lasts = creditWouldLast(credit, spendOnceReady(account), perHour)
  if (total <= credit || lasts === undefined) return undefined
  const costs = `${duration(hours * 3600)} cost ${moneyUp(total)}, more than your ${money(credit)}.`
  return {
    why: `${costs} It would be cut off after ${duration(lasts)}, ${atMoment(now + lasts, now)}.`,
    lasts,
  }
}

/** `Rent for 18 min of credit`. `lasts`: seconds that the credit lasts. */
export function creditVerb(verb: string, lasts: number): string {
  return lasts < 60 ? `${verb} without credit` : `${verb} for ${duration(lasts)} of credit`
}
