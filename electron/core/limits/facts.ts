import type { Clock } from '#platform/platform.ts'
import { calmRate } from '#shared/derived.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import { hasTrait } from '#shared/instance/state-traits.ts'
import type { Micros } from '#shared/spending/money.ts'
import type { AccountView } from '#shared/state.ts'
import { breakAfter } from '../instances/reconcile.ts'
import { midnight, nextMidnight } from '../money/days.ts'
import type { Uses } from './uses.ts'

/** The facts that limits decide on: an account as seen at `at`. Times in epoch seconds of the account's time. */
export interface Facts extends Periods {
  at: number
  account: Pick<AccountView, 'instances' | 'credit' | 'creditUntold' | 'creditAt' | 'spendPerHour'>
  /** The spending of this local day and month, and until when it was counted. */
  spentToday: Micros
  spentThisMonth: Micros
  /** The recent spending per hour. */
  observedPerHour: Micros
  countedAt: number
  /** By instance: loads read over SSH where the service does not report them. */
  loads: SshLoads
  /** By instance: who uses it, where that was read of late. */
  uses: Uses
}

/** A load in percent, or why it cannot be read, as a clause; and when that was. */
export type SshLoad = { at: number } & ({ load: number; why?: undefined } | { load?: undefined; why: string })
export type SshLoads = ReadonlyMap<number, SshLoad>

/** The facts, and the limits' actions on them. */
export interface LimitInputs {
  facts: Facts
  /** Instances that are being stopped or destroyed, which no fresh reading shows yet. */
  acted: ReadonlySet<number>
}

/** The basis of a decision. */
export interface LimitSnapshot extends LimitInputs {
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
 * An instance's GPU load in percent: as the service reports it, or as it was read over SSH, and no less than what it told itself
 * shortly before an idle limit acts, since a service may report a stale load, or none at all as 0.
 */
export function loadOf(
  instance: InstanceView,
  { loads, uses }: Pick<Facts, 'loads' | 'uses'>,
): number | undefined {
  const told = instance.gpuLoad ?? loads.get(instance.id)?.load
  return told === undefined ? undefined : Math.max(told, uses.get(instance.id)?.load ?? 0)
}

/**
 * The rate for limits on the credit, micro-dollars per hour: from prices, and at least the observed rate while an
 * instance of unknown cost runs. Stopped instances no longer count, whatever the last hour cost.
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

/** Begin and end of a moment's day and month in this computer's time zone. Epoch seconds. */
export interface Periods {
  dayBegan: number
  dayEnds: number
  monthBegan: number
  monthEnds: number
}

export function periodsOf(at: number): Periods {
  const date = new Date(at * 1000)
  const [year, month] = [date.getFullYear(), date.getMonth()]
  return {
    dayBegan: midnight(at),
    dayEnds: nextMidnight(at),
    monthBegan: new Date(year, month, 1).getTime() / 1000,
    monthEnds: new Date(year, month + 1, 1).getTime() / 1000,
  }
}

/** The part of an account's money history that limits use. */
export interface Spending {
  spentToday(): number
  spentThisMonth(): number
  observedPerHour(): number
  /** Until when spending was counted; undefined before the first poll. */
  countedAt(): number | undefined
}

type SeenAccount = Pick<AccountView, 'instances' | 'credit' | 'spendPerHour' | 'clock'>

export type Snapshots = ReturnType<typeof createSnapshots>

/** Records when the account was polled, and whether its time is reliable. */
export function createSnapshots(context: {
  clock: Clock
  spending: Spending
  /** The loads, by the rate of the account's time and its seconds between two polls. */
  loads: (rate: number, between: number) => SshLoads
  uses: (rate: number) => Uses
  /** Seconds between two polls. */
  interval: () => number
  /** When an earlier session last saw the account. */
  seenAt: number | undefined
  /** The account's time, epoch seconds. */
  now: () => number
}) {
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
      uses: context.uses(account.clock.rate),
      countedAt: spending.countedAt() ?? at,
      ...periodsOf(context.now()),
    }
  }

  const factsOf = (account: SeenAccount) => facts(account, last?.at ?? seenAt ?? context.now())

  return {
    /** The last known facts. */
    known: factsOf,
    /** The snapshot of a new poll. */
    fresh(account: SeenAccount, at: number): Omit<LimitSnapshot, 'acted'> {
      const gap = gapOf(account)
      const monotonic = clock.monotonic()
      const passed = last && ((monotonic - last.monotonic) / 1000) * account.clock.rate
      const sure = last !== undefined && passed !== undefined && Math.abs(at - last.at - passed) <= gap
      last = { at, monotonic }
      return { facts: facts(account, at), fresh: true, sure, seenAt, gap }
    },
    /** The snapshot of the last known facts, without a new poll. */
    stale: (account: AccountView): Omit<LimitSnapshot, 'acted'> => ({
      facts: factsOf(account),
      fresh: false,
      sure: true,
      seenAt,
      gap: gapOf(account),
    }),
    /** The last poll was decided on: the next one is compared with it. */
    decided(at: number): void {
      seenAt = at
    },
    /** When this session last polled. */
    lastAt: (): number | undefined => last?.at,
  }
}
