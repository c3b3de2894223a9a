import { rate } from '../format/money.ts'
import type { InstanceView } from '../instance/instance.ts'
import { spendOnceReady } from '../reading.ts'
import type { AccountView } from '../state.ts'

/** The spending per hour: `$2.528/h`; while instances boot, `now $0.007/h, $2.535/h once ready`. */
export function spendWords(spends: Pick<AccountView, 'spendPerHour' | 'instances'>): string {
  const ready = spendOnceReady(spends)
  const now = rate(spends.spendPerHour)
  return ready > spends.spendPerHour ? `now ${now}, ${rate(ready)} once ready` : now
}

/** The same for one instance. */
export function costWords(instance: InstanceView): string {
  return spendWords({ spendPerHour: instance.costPerHour, instances: { [instance.id]: instance } })
}
