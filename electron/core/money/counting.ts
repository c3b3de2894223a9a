import * as v from 'valibot'
import type { MoneyDay } from '#contract/spending/history.ts'
import type { AccountPoll } from '../account-context.ts'
import { type Accrual, accrueSpending, type Counted } from './accrual.ts'
import { StoredDay, withStretch } from './days.ts'
import { StoredSamples, withAmount } from './samples.ts'
import { namedSpenders, StoredNames } from './spender-names.ts'

/** The part that changes with every sample, kept small because it is written as often. */
export const MoneyNow = v.object({
  counted: v.optional(
    v.object({
      at: v.number(),
      credit: v.optional(v.number()),
      instances: v.record(
        v.string(),
        v.object({ spent: v.number(), perHour: v.number(), running: v.number() }),
      ),
    }),
  ),
  today: StoredDay,
  samples: StoredSamples,
  names: StoredNames,
  /** Since when polls lack the credit and are skipped. Stored, so that a restart does not restart that time. */
  creditStaleSince: v.optional(v.number()),
})
export type MoneyNow = v.InferOutput<typeof MoneyNow>

/** The record after a poll was counted. */
export interface CountedPoll extends Pick<Accrual, 'estimated' | 'corrected'> {
  after: MoneyNow & { counted: Counted }
  /** Days that ended with this poll. */
  over: readonly MoneyDay[]
}

/** Seconds: the most that a poll adds, so that a clock that leaps by years does not fill the record with days. */
const longestStretch = 400 * 86_400

/** Adds a poll to the record. `known` gives a day that was counted before, for a calendar that goes back. */
export function countPoll(
  before: MoneyNow,
  { account, credit, at }: AccountPoll,
  known: (day: string) => MoneyDay | undefined,
): CountedPoll {
  const since = before.counted?.at ?? at
  const { counted, spent, toppedUp, estimated, shares, corrected } = accrueSpending(before.counted, {
    at,
    instances: account.instances,
    credit,
  })
  const names = namedSpenders(before.names, account)
  const from = since > at ? at : Math.max(since, at - longestStretch)
  const model = (id: string) => names[id]?.gpu ?? ''
  const stretch = { from, to: at, spent, toppedUp, estimated, shares, credit, model }
  const days = withStretch(before.today, stretch, known)
  const today = days.at(-1) ?? before.today
  // Also days after `today`: on a journey west the calendar goes back.
  const over = (days[0]?.day === before.today.day ? days : [before.today, ...days]).filter(
    ({ day }) => day !== today.day,
  )
  const samples = withAmount(before.samples, at, spent, credit)
  return { after: { counted, today, samples, names }, over, estimated, corrected }
}
