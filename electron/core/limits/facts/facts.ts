import { hasTrait } from '#contract/instance/state-traits.ts'
import { calmRate } from '#contract/reading.ts'
import type { Micros } from '#contract/spending/money.ts'
import type { AccountView } from '#contract/state.ts'
import type { Periods } from './calendar.ts'

/** The facts that limits decide on: an account as seen at `at`. Times in epoch seconds of the account's time. */
export interface Facts extends Periods {
  at: number
  account: Pick<AccountView, 'instances' | 'credit' | 'creditUntold' | 'creditAt' | 'spendPerHour'>
  /** The spending of this local day and month, and until when it was counted. */
  spentToday: Micros
  spentThisMonth: Micros
  /** What left the account per hour lately. */
  observedPerHour: Micros
  countedAt: number
  /** By instance: loads read over SSH where the service does not report them. */
  loads: Loads
}

/** A load in percent, or why it cannot be read, as a clause; and when that was. */
export type HeardLoad = { at: number } & (
  | { load: number; why?: undefined }
  | { load?: undefined; why: string }
)
export type Loads = ReadonlyMap<number, HeardLoad>

/** The facts, and what limits have done about them. */
export interface Known {
  facts: Facts
  /** Instances that a limit acted on so recently that the service may not show it yet. */
  acted: ReadonlySet<number>
}

/** The basis of a decision. */
export interface LimitSnapshot extends Known {
  /** Whether the facts are from a poll just now. Stale ones only lead to warnings. */
  fresh: boolean
  /** Instances without fresh facts, although the rest was just polled. Absent: none. */
  unconfirmed?: ReadonlySet<number>
  /** Whether two polls agree about the time. After a clock has jumped, limits wait for a second poll. */
  sure: boolean
  /** When the account was polled before, epoch seconds of its time. */
  seenAt: number | undefined
  /** Seconds between two polls above which the time between them counts as unseen. */
  gap: number
}

/**
 * The rate for limits on the credit, micro-dollars per hour: by the prices, and while one of unknown cost runs at least
 * what was observed. What has stopped is no longer spent, whatever the last hour has cost.
 */
export function creditRate({
  account: { instances },
  observedPerHour,
}: {
  account: Pick<AccountView, 'instances'>
  observedPerHour: Micros
}): Micros {
  const unseen = Object.values(instances).some(
    ({ costUnknown, state }) => costUnknown && hasTrait(state, 'stoppable'),
  )
  return Math.max(calmRate(instances), unseen ? observedPerHour : 0)
}
