import * as v from 'valibot'
import { money } from '../format/money.ts'
import { duration } from '../format/time.ts'
import { micros } from '../spending/money.ts'

const Dollars = v.pipe(
  v.number('give the sum in dollars'),
  v.minValue(0.01, 'at least $0.01'),
  v.maxValue(1_000_000, 'at most $1,000,000'),
)

/** Input in dollars, output in micro-dollars. */
const Sum = v.pipe(Dollars, v.transform(micros))

const Span = v.pipe(
  v.number('give the time as a number'),
  v.minValue(60, 'at least a minute'),
  v.maxValue(366 * 86_400, 'at most a year'),
)

const Percent = v.pipe(
  v.number('give the load in percent'),
  v.minValue(1, 'at least 1 %'),
  v.maxValue(100, 'at most 100 %'),
)

/** A limit's condition as the page sends it. Times in seconds, moments in epoch seconds of the account's time. */
export const LimitRequest = v.variant('kind', [
  v.strictObject({ kind: v.literal('time'), at: v.pipe(v.number('give a date and a time'), v.finite()) }),
  v.strictObject({ kind: v.literal('duration'), seconds: Span }),
  v.strictObject({ kind: v.literal('idle'), below: Percent, seconds: Span }),
  v.strictObject({ kind: v.literal('cost'), limit: Sum }),
  v.strictObject({ kind: v.literal('budget'), per: v.picklist(['day', 'month']), limit: Sum }),
  v.strictObject({
    kind: v.literal('credit'),
    hours: v.pipe(
      v.number('give the time in hours'),
      v.minValue(0.1, 'at least 0.1 hours'),
      v.maxValue(10_000, 'at most 10,000 hours'),
    ),
  }),
])
export type LimitRequest = v.InferOutput<typeof LimitRequest>

/** A stop condition chosen with a rental: Berth sets a limit with it as soon as the instance exists. */
export const RentalStop = v.variant('kind', [
  v.strictObject({ kind: v.literal('idle'), below: Percent, seconds: Span }),
  v.strictObject({ kind: v.literal('duration'), seconds: Span }),
  v.strictObject({ kind: v.literal('cost'), dollars: Dollars }),
])
export type RentalStop = v.InferOutput<typeof RentalStop>

/** At most one of each kind. */
export const RentalStops = v.pipe(
  v.array(RentalStop),
  v.check(stops => new Set(stops.map(({ kind }) => kind)).size === stops.length, 'each kind once'),
)

/** A limit's condition as stored. Moments in epoch seconds of the account's time, money in micro-dollars. */
export const LimitCondition = v.variant('kind', [
  v.object({ kind: v.literal('time'), at: v.number() }),
  v.object({ kind: v.literal('duration'), from: v.number(), seconds: v.number() }),
  /** The GPU load was below `below` percent for `seconds`, as far as Berth has seen. */
  v.object({ kind: v.literal('idle'), below: v.number(), seconds: v.number() }),
  /** The instance's cost since its creation reached `limit`. `from`: what it had cost when the limit was set again. */
  v.object({ kind: v.literal('cost'), limit: v.number(), from: v.optional(v.number()) }),
  /** The spending in this day or month, by this machine's calendar, reached `limit`. */
  v.object({ kind: v.literal('budget'), per: v.picklist(['day', 'month']), limit: v.number() }),
  /** At the present rate, the credit would last less than `hours`. */
  v.object({ kind: v.literal('credit'), hours: v.number() }),
])
export type LimitCondition = v.InferOutput<typeof LimitCondition>

export type LimitKind = LimitCondition['kind']

interface KindTraits {
  /** Whether it limits one instance or the whole account. */
  on: 'instance' | 'account'
  /** Whether it continues after it has acted. */
  goesOn: boolean
  /** Whether its moment is known from the start, and part of its sentence. */
  isSure: boolean
}

export const limitKinds: Readonly<Record<LimitKind, KindTraits>> = {
  time: { on: 'instance', goesOn: false, isSure: true },
  duration: { on: 'instance', goesOn: false, isSure: true },
  idle: { on: 'instance', goesOn: true, isSure: false },
  cost: { on: 'instance', goesOn: false, isSure: false },
  budget: { on: 'account', goesOn: true, isSure: false },
  credit: { on: 'account', goesOn: true, isSure: false },
}

/** Why it is due, as a clause: `today’s budget of $5.00 is reached`. */
export function limitReached(condition: LimitCondition): string {
  switch (condition.kind) {
    case 'time':
    case 'duration':
    case 'idle':
      return 'its moment has come'
    case 'cost':
      return `it has cost its limit of ${money(condition.limit)}`
    case 'budget':
      return `${condition.per === 'day' ? 'today’s' : 'this month’s'} budget of ${money(condition.limit)} is reached`
    case 'credit':
      return `the credit would then last less than ${duration(condition.hours * 3600)}`
  }
}
