import { rate } from '#contract/format/money.ts'
import { shortInstanceName } from '#contract/format/name.ts'
import type { AccountId } from '#contract/ids.ts'
import type { InstanceView } from '#contract/instance/instance.ts'
import {
  increasedRate,
  increaseFrom,
  type PriceIncreaseView,
  priceChanges,
} from '#contract/spending/price-increase.ts'
import { type Alert, alertOf } from '#core/alerts/events.ts'

export function increaseAlertId(account: AccountId, instance: number): string {
  return `${account}/${instance}/priceIncrease`
}

/** The alert for a host's request for higher prices. `at`: epoch seconds of the account's time. */
export function increaseAlert(
  increase: PriceIncreaseView,
  instance: InstanceView,
  account: AccountId,
  at: number,
): Alert {
  const prices = increasedRate(increase, instance)
  return alertOf('priceIncrease', {
    id: increaseAlertId(account, instance.id),
    instance: instance.id,
    title: prices
      ? `${shortInstanceName(instance)}: price goes up to ${rate(prices.after)}`
      : `${shortInstanceName(instance)}: prices go up`,
    body: `Its host raises prices ${increaseFrom(increase, at)}: ${priceChanges(increase).join(', ')}. Accept to keep the instance, or refuse to let it end with its contract.`,
  })
}
