import { rate } from '#contract/format/money.ts'
import { duration, moment } from '#contract/format/time.ts'
import type { InstanceView } from '#contract/instance/instance.ts'
import { afterContract } from '#contract/instance/instance-words.ts'
import { contractEndsIn, diskNearlyFull, diskUse } from '#contract/reading.ts'
import {
  increasedRate,
  increaseFrom,
  type PriceIncreaseView,
  priceChanges,
} from '#contract/spending/price-increase.ts'

/** The near end of the contract and a nearly full disk, a sentence each. `now`: epoch seconds of the account's time. */
export function warningsOf(
  instance: InstanceView,
  now: number,
  increase: PriceIncreaseView | undefined,
): string[] {
  const left = contractEndsIn(instance, now)
  const use = diskUse(instance)
  return [
    ...(left === undefined || increase?.accepted
      ? []
      : [`Its contract ends in ${duration(left)}. Then ${afterContract}.`]),
    ...(use === undefined || use < diskNearlyFull
      ? []
      : [`Its disk is ${Math.floor(use * 100)}% full and can’t grow.`]),
  ]
}

/** A host's price increase: `Its host asks for $0.600/h instead of $0.400/h from Sun 3 May, 14:00 on.` */
export function increaseWords(increase: PriceIncreaseView, instance: InstanceView, now: number): string {
  const prices = increasedRate(increase, instance)
  const wanted = prices
    ? `${rate(prices.after)}, now ${rate(prices.before)}`
    : `higher prices (${priceChanges(increase).join(', ')})`
  return `Its host asks for ${wanted}, ${increaseFrom(increase, now)}.`
}

/** A price increase that the user has accepted. */
export function acceptedWords(increase: PriceIncreaseView, instance: InstanceView, now: number): string {
  const prices = increasedRate(increase, instance)
  const cost = prices
    ? `It costs ${rate(prices.after)}`
    : `It costs more (${priceChanges(increase).join(', ')})`
  const until = increase.until === undefined ? '' : `, until ${moment(increase.until, now)}`
  return `${cost} ${increaseFrom(increase, now)}${until}, as you accepted.`
}
