import type { Micros } from '../../../contract/spending/money.ts'
import type { AccountView } from '../../../contract/state.ts'
import type { Periods } from './calendar.ts'

/** What guards decide on: an account as it was seen at `at`. Times in epoch seconds of the account's time. */
export interface Facts extends Periods {
  at: number
  account: Pick<AccountView, 'instances' | 'credit' | 'creditAt' | 'spendPerHour'>
  /** What this day and this month of the machine's calendar have cost, and until when that was counted. */
  spentToday: Micros
  spentThisMonth: Micros
  countedAt: number
  /** By instance, where the service does not tell the GPU load and it was asked inside. */
  loads: Loads
}

/** Percent, and when it was reported. */
export interface HeardLoad {
  load: number
  at: number
}
export type Loads = ReadonlyMap<number, HeardLoad>

/** What is known, and what guards have done about it. */
export interface Known {
  facts: Facts
  /** Instances that a guard acted on so recently that the service may not show it yet. */
  acted: ReadonlySet<number>
}

/** What Berth has before it when it decides. */
export interface Snapshot extends Known {
  /** Whether the facts were just seen. What is older is only warned of. */
  fresh: boolean
  /** Instances without fresh facts, though the rest was just polled. Absent: none. */
  unconfirmed?: ReadonlySet<number>
  /** Whether two polls agree about what time it is. A clock that has leapt is not acted on until a second poll does. */
  sure: boolean
  /** When the account was polled before, epoch seconds of its time. */
  seenAt: number | undefined
  /** Seconds between two polls beyond which what happened in between counts as unseen. */
  gap: number
}
