import type { MoneyDay } from '../../../../electron/contract/spending/history.ts'
import { localDay } from '../../../../electron/core/money/local-days.ts'
import type { Payment, Poll, Timeline } from '../timeline.ts'

/** What became of the sums that were paid in. Micro-dollars. */
export interface Noticed {
  /** What was noticed more than was paid in, by usual sums that were taken for others. */
  mistaken: number
  broken: string[]
}

/** The smallest sum that is usual. */
const usual = 5_000_000

/**
 * Every payment on its day. Only where a day says that it is estimated may it be another usual sum: what was paid in
 * while Berth was dead is known by the credit and the prices alone, and by those two sums may explain it alike.
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
    // About midnight it may be the one day's or the other's.
    if (estimated || here.some(({ on }) => on.size > 1)) continue
    const paid = here.reduce((sum, { payment }) => sum + payment.paid, 0)
    if (differs(toppedUp, paid))
      broken.push(`${paid} micro-dollars were paid in on ${day}, but ${toppedUp} were noticed`)
  }
  return { mistaken, broken }
}

/** The day of the poll that finds it; killed before that is on disk, Berth finds it again in the next one. */
function daysOf({ at }: Payment, polls: readonly (readonly Poll[])[]): Set<string> {
  return new Set(polls.map(some => localDay(some.find(({ until }) => until >= at)?.until ?? at)))
}
