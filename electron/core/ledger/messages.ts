import { money, rate } from '#shared/format/money.ts'
import { instanceName, named } from '#shared/format/name.ts'
import { counted } from '#shared/format/size.ts'
import type { AccountId } from '#shared/ids.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import { micros } from '#shared/spending/money.ts'
import type { SpenderForm } from '#shared/spending/spender.ts'
import { type Alert, alertOf } from '../alerts/events.ts'
import type { OverCap } from './step.ts'

/** `it has used up its $10.00 a day`, and how its price rose, if it did. */
function reason(form: SpenderForm, over: OverCap): string {
  const { price, agreed } = over
  const rose = agreed > 0 && price > agreed * muchMore
  return `${capWords(form, over)}${rose ? `, after its price rose from ${rate(agreed)} to ${rate(price)}` : ''}`
}
/** Prices that differ by less are the same. */
const muchMore = 1.01

function capWords({ perDay, perHour, price, machines }: SpenderForm, { cap, spent, disks }: OverCap): string {
  if (cap === 'hour') return `its machines cost more than ${rate(micros(perHour))}`
  if (cap === 'machines') return `it runs more than ${counted(machines, 'machine')}`
  if (cap === 'price') return `it costs more than ${rate(micros(price))}`
  const day = `its ${money(micros(perDay))} a day`
  if (spent >= micros(perDay)) return `it has used up ${day}`
  return `it has spent ${money(spent)} of ${day}, and its disks cost ${money(disks)} until midnight`
}

/** The line of Activity once an instance was stopped at a cap. */
export function stoppedText(instance: InstanceView, form: SpenderForm, over: OverCap): string {
  return `Stopped ${instanceName(instance)} of ${form.name}: ${reason(form, over)}`
}

/** Machines are stopped at a spender's cap. */
export function capAlert(
  account: AccountId,
  form: SpenderForm,
  stopped: readonly { instance: InstanceView; over: OverCap }[],
): Alert {
  const [first] = stopped
  const names = named(stopped.map(({ instance }) => instanceName(instance)))
  return alertOf('capReached', {
    id: `${account}/cap/${form.kind}/${form.name}`,
    instance: stopped.length === 1 ? first?.instance.id : undefined,
    title: `Stopping ${names} of ${form.name}`,
    body: `${form.name} is at a cap: ${first ? reason(form, first.over) : ''}. Disks are still billed.`,
  })
}
