import { money, rate } from '#shared/format/money.ts'
import { instanceName, named } from '#shared/format/name.ts'
import type { AccountId } from '#shared/ids.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import { micros } from '#shared/spending/money.ts'
import type { SpenderForm } from '#shared/spending/spender.ts'
import { type Alert, alertOf } from '../alerts/events.ts'
import type { OverCap } from './step.ts'

/** `It has used up its $10.00 a day.` */
function reason({ perDay, perHour, price }: SpenderForm, cap: OverCap['cap']): string {
  if (cap === 'day') return `it has used up its ${money(micros(perDay))} a day`
  if (cap === 'hour') return `its machines cost more than ${rate(micros(perHour))}`
  return `it costs more than ${rate(micros(price))}`
}

/** The line of Activity once an instance was stopped at a cap. */
export function stoppedText(instance: InstanceView, form: SpenderForm, cap: OverCap['cap']): string {
  return `Stopped ${instanceName(instance)} of ${form.name}: ${reason(form, cap)}`
}

/** Machines are stopped at a spender's cap. */
export function capAlert(
  account: AccountId,
  form: SpenderForm,
  stopped: readonly { instance: InstanceView; cap: OverCap['cap'] }[],
): Alert {
  const [first] = stopped
  const names = named(stopped.map(({ instance }) => instanceName(instance)))
  return alertOf('capReached', {
    id: `${account}/cap/${form.kind}/${form.name}`,
    instance: stopped.length === 1 ? first?.instance.id : undefined,
    title: `Stopping ${names} of ${form.name}`,
    body: `${form.name} is at a cap: ${reason(form, first?.cap ?? 'day')}. Disks are still billed.`,
  })
}
