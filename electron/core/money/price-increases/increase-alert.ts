import { rate } from '#contract/format/money.ts'
import { shortInstanceName } from '#contract/format/name.ts'
import { moment } from '#contract/format/time.ts'
import type { AccountId } from '#contract/ids.ts'
import type { InstanceView } from '#contract/instance/instance.ts'
import { increasedRate, type PriceIncreaseView, priceChanges } from '#contract/spending/price-increase.ts'
import type { Alert } from '#core/notifications/alert.ts'

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
  const from =
    increase.from === undefined
      ? 'once its contract ends'
      : `from ${moment(increase.from, at)} on, when its contract ends`
  return {
    id: increaseAlertId(account, instance.id),
    kind: 'priceIncrease',
    instance: instance.id,
    title: prices
      ? `${shortInstanceName(instance)} is to cost ${rate(prices.after)} instead of ${rate(prices.before)}`
      : `The host of ${shortInstanceName(instance)} asks for higher prices`,
    body: `Its host asks for it ${from}: ${priceChanges(increase).join(', ')}. Accept to keep it beyond that, or refuse: then it ends with its contract.`,
    urgency: 'critical',
    actions: [{ id: 'show', label: 'Show' }],
    place: { screen: 'instances', instance: instance.id },
  }
}
