import * as v from 'valibot'

const bidUpTo = (most: number, message: string) =>
  v.pipe(
    v.number('enter the bid as a number of dollars per hour'),
    v.finite(),
    v.minValue(0.001, 'the lowest bid is $0.001 per hour'),
    v.maxValue(most, message),
  )

/** A bid for an existing instance, dollars per hour (section 8). */
export const BidPrice = bidUpTo(32, 'the highest bid is $32 per hour')

/** A rental's first bid: the interface only limits later ones, but the best-known deployment limits this too. */
export const FirstBid = bidUpTo(128, 'the highest bid is $128 per hour')

/** Dollars per hour, disk included: dearer offers are skipped. */
export const PricePerHour = v.pipe(
  v.number('enter a price per hour'),
  v.minValue(0.001, 'at least $0.001 per hour'),
  v.maxValue(1000, 'at most $1,000 per hour'),
)

/** The limits of a rental with retries. */
export const RetryLimits = v.object({
  /** The most machines to try, counting offers that were gone. */
  attempts: v.pipe(
    v.number('enter a number of attempts'),
    v.integer('a whole number of attempts'),
    v.minValue(1, 'at least one attempt'),
    v.maxValue(20, 'at most 20 attempts'),
  ),
  /** Dollars that all attempts together may cost until one is ready. */
  ceiling: v.pipe(
    v.number('enter what the attempts may cost'),
    v.minValue(0.01, 'at least $0.01'),
    v.maxValue(1000, 'at most $1,000'),
  ),
  /** Seconds that one attempt may take until its instance is ready. */
  deadline: v.pipe(
    v.number('enter the minutes that an attempt may take'),
    v.minValue(60, 'at least a minute'),
    v.maxValue(7200, 'at most two hours'),
  ),
  /** Not used with a bid, which is its own limit. */
  price: v.optional(PricePerHour),
})
export type RetryLimits = v.InferOutput<typeof RetryLimits>
