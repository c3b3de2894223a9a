import type { AccountView } from '../../../contract/state.ts'
import type { Clock } from '../../../ports/clock.ts'
import { breakAfter } from '../../instances/reconcile.ts'
import { periodsOf } from './calendar.ts'
import type { Facts, Loads, Snapshot } from './facts.ts'

/** What an account's money history tells the guards. */
export interface Spending {
  spentToday(): number
  spentThisMonth(): number
  /** Until when it was counted; undefined before the first poll. */
  countedAt(): number | undefined
}

type SeenAccount = Pick<AccountView, 'instances' | 'credit' | 'spendPerHour' | 'clock'>

/** Keeps track of when the account was seen, and of whether its time can be believed. */
export interface Snapshots {
  /** After a fresh poll. */
  fresh(account: SeenAccount, at: number): Omit<Snapshot, 'acted'>
  /** What was known last, where nothing newer is to be had. */
  stale(account: AccountView): Omit<Snapshot, 'acted'>
  /** The same as facts alone. */
  known(account: SeenAccount): Facts
  /** The last poll has been decided on: the next one is measured from it. */
  decided(at: number): void
  /** When a poll was last told in this session. */
  lastAt(): number | undefined
}

export function createSnapshots(context: {
  clock: Clock
  spending: Spending
  /** What is known inside, by how fast the account's time runs and the seconds of it between two polls. */
  loads: (rate: number, between: number) => Loads
  /** Seconds between two polls. */
  interval: () => number
  /** When an earlier session last saw the account. */
  seenAt: number | undefined
  /** The account's time, epoch seconds. */
  now: () => number
}): Snapshots {
  const { clock, spending } = context
  let last: { at: number; monotonic: number } | undefined
  let { seenAt } = context

  const gapOf = ({ clock: { rate } }: SeenAccount) => breakAfter(context.interval() * rate)

  function facts(account: SeenAccount, at: number): Facts {
    return {
      at,
      account,
      spentToday: spending.spentToday(),
      spentThisMonth: spending.spentThisMonth(),
      loads: context.loads(account.clock.rate, context.interval() * account.clock.rate),
      countedAt: spending.countedAt() ?? at,
      ...periodsOf(context.now()),
    }
  }

  const known = (account: SeenAccount) => facts(account, last?.at ?? seenAt ?? context.now())

  return {
    known,
    fresh(account, at) {
      const gap = gapOf(account)
      const monotonic = clock.monotonic()
      const passed = last && ((monotonic - last.monotonic) / 1000) * account.clock.rate
      const sure = last !== undefined && passed !== undefined && Math.abs(at - last.at - passed) <= gap
      last = { at, monotonic }
      return { facts: facts(account, at), fresh: true, sure, seenAt, gap }
    },
    stale: account => ({
      facts: known(account),
      fresh: false,
      sure: true,
      seenAt,
      gap: gapOf(account),
    }),
    decided(at) {
      seenAt = at
    },
    lastAt: () => last?.at,
  }
}
