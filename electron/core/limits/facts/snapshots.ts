import type { AccountView } from '#contract/state.ts'
import { breakAfter } from '#core/instances/reconcile.ts'
import type { Clock } from '#ports/clock.ts'
import { periodsOf } from './calendar.ts'
import type { Facts, LimitSnapshot, Loads } from './facts.ts'

/** The part of an account's money history that limits use. */
export interface Spending {
  spentToday(): number
  spentThisMonth(): number
  observedPerHour(): number
  /** Until when spending was counted; undefined before the first poll. */
  countedAt(): number | undefined
}

type SeenAccount = Pick<AccountView, 'instances' | 'credit' | 'spendPerHour' | 'clock'>

/** Records when the account was polled, and whether its time is reliable. */
export interface Snapshots {
  /** The snapshot of a new poll. */
  fresh(account: SeenAccount, at: number): Omit<LimitSnapshot, 'acted'>
  /** The snapshot of the last known facts, without a new poll. */
  stale(account: AccountView): Omit<LimitSnapshot, 'acted'>
  /** The last known facts. */
  known(account: SeenAccount): Facts
  /** The last poll was decided on: the next one is compared with it. */
  decided(at: number): void
  /** When this session last polled. */
  lastAt(): number | undefined
}

export function createSnapshots(context: {
  clock: Clock
  spending: Spending
  /** The loads, by the rate of the account's time and its seconds between two polls. */
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
      observedPerHour: spending.observedPerHour(),
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
