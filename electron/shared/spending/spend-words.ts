import { costOnceReady, isSpendingUnknown, spendOnceReady } from '../derived.ts'
import { rate } from '../format/money.ts'
import { counted } from '../format/size.ts'
import { moment } from '../format/time.ts'
import type { InstanceView } from '../instance/instance.ts'
import type { AccountView } from '../state.ts'

/**
 * The spending per hour: `$2.528/h`; while instances boot, `now $0.007/h, $2.535/h once ready`; with instances of unknown
 * cost, `at least $2.528/h`, or `unknown`.
 */
export function spendWords(spends: Pick<AccountView, 'spendPerHour' | 'instances'>): string {
  const ready = spendOnceReady(spends)
  if (isSpendingUnknown(spends)) return ready > 0 ? `at least ${rate(ready)}` : 'unknown'
  const now = rate(spends.spendPerHour)
  return ready > spends.spendPerHour ? `now ${now}, ${rate(ready)} once ready` : now
}

/** What volumes cost: `1 volume costs $0.028/h`. */
export function volumesWords({ count, perHour }: NonNullable<AccountView['volumes']>): string {
  return `${counted(count, 'volume')} ${count === 1 ? 'costs' : 'cost'} ${rate(perHour)}`
}

/** The same for one instance: `cost unknown` where nobody tells it. */
export function costWords(instance: InstanceView): string {
  if (instance.costUnknown && costOnceReady(instance) <= 0) return 'cost unknown'
  return spendWords({ spendPerHour: instance.costPerHour, instances: { [instance.id]: instance } })
}

/** Since when what an instance has cost is known, where that is not all of it. `now`: epoch seconds of the account's time. */
export function seenFromWords({ spent: { seenFrom } }: InstanceView, now: number): string | undefined {
  return seenFrom === undefined ? undefined : `seen since ${moment(seenFrom, now)}, estimated before`
}

/** What instances cost together, in a sentence: `$2.528/h`, `at least $2.528/h`, `an unknown amount`. */
export function costOf(instances: readonly InstanceView[]): string {
  const perHour = instances.reduce((sum, { costPerHour }) => sum + costPerHour, 0)
  if (!instances.some(({ costUnknown }) => costUnknown)) return rate(perHour)
  return perHour > 0 ? `at least ${rate(perHour)}` : 'an unknown amount'
}
