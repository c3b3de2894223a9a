import type { MoneyDay } from '../../../../electron/contract/spending/history.ts'
import { localDay } from '../../../../electron/core/money/local-days.ts'
import type { Payment, Poll, Timeline } from '../timeline.ts'

/** How payments were noticed, in micro-dollars. */
export interface Noticed {
  /** Noticed beyond the real payments, by mistaking one usual sum for another. */
  mistaken: number
  broken: string[]
}

/** The smallest usual payment. */
const usual = 5_000_000

/**
 * Checks every payment on its day. Only on an estimated day may it be another usual sum: a payment while Berth was dead
 * is known only by credit and prices, which two sums may explain equally.
 */
export function paymentsNoticed(
  days: readonly MoneyDay[],
  paidIn: number,
  { payments, polls }: Timeline,
  saved: readonly Poll[],
  doubt: number,
): Noticed {
  const broken: string[] = []
  const differs = (noticed: number, paid: number) => Math.abs(noticed - paid) > doubt
  const noticed = days.reduce((sum, { toppedUp }) => sum + toppedUp, 0)
  const isEstimated = days.some(({ estimated }) => estimated)
  const mistaken = isEstimated ? Math.round((noticed - paidIn) / usual) * usual : 0
  if (differs(noticed - mistaken, paidIn))
    broken.push(`${paidIn} micro-dollars were paid in, but ${noticed} were noticed`)

  const placed = payments.map(payment => ({ payment, on: daysOf(payment, [polls, saved]) }))
  for (const { day, toppedUp, estimated } of days) {
    const here = placed.filter(({ on }) => on.has(day))
    // Around midnight a payment may belong to either day.
    if (estimated || here.some(({ on }) => on.size > 1)) continue
    const paid = here.reduce((sum, { payment }) => sum + payment.paid, 0)
    if (differs(toppedUp, paid))
      broken.push(`${paid} micro-dollars were paid in on ${day}, but ${toppedUp} were noticed`)
  }
  return { mistaken, broken }
}

/** The day of the poll that finds a payment, and of the next stored one, which finds it again after a kill. */
function daysOf({ at }: Payment, polls: readonly (readonly Poll[])[]): Set<string> {
  return new Set(polls.map(some => localDay(some.find(({ until }) => until >= at)?.until ?? at)))
}
